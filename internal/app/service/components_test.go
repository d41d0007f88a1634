package service

import (
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/stretchr/testify/require"
)

func TestComponentsAreImagesThatHaveAName(t *testing.T) {
	t.Parallel()
	for component, image := range componentVersions() {
		_, err := name.ParseReference(image)
		require.NoError(t, err, component)
	}
	require.Equal(t, "v0.1.0-dirty-0123abcd-modified", tag("v0.1.0+dirty 0123abcd modified"))
	require.Equal(t, "devel", tag("(devel)"))
}
