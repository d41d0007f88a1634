package resource_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/api/kube/resource"
)

func TestTakenSettingsAreRememberedByResource(t *testing.T) {
	t.Parallel()
	a, err := resource.DigestOf(map[string]string{"a": "1"})
	require.NoError(t, err)
	b, err := resource.DigestOf(map[string]string{"a": "2"})
	require.NoError(t, err)
	var taken resource.Taken
	taken.Forget("one")
	require.False(t, taken.Has("one", a))
	require.False(t, taken.Has("one", resource.Digest{}), "nothing is known yet")
	taken.Set("one", a)
	require.True(t, taken.Has("one", a))
	require.False(t, taken.Has("one", b))
	require.False(t, taken.Has("two", a))
	taken.Forget("one")
	require.False(t, taken.Has("one", a))
}
