package service

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/app/settings"
)

func TestComponentsNameNoImageThatNobodyOwns(t *testing.T) {
	t.Parallel()
	s := &Service{}
	got := s.components()
	require.Equal(t, "quay.io/edge-infrastructure/assisted-installer:latest", got["assisted-installer"])
	require.Equal(t, "quay.io/edge-infrastructure/assisted-installer-controller:latest", got["assisted-installer-controller"])
	for component, version := range got {
		require.NotContains(t, version, "slipway/", component)
	}

	s.variables = settings.Variables{ControllerImage: "registry.example.com/controller@sha256:abc"}
	require.Equal(t, "registry.example.com/controller@sha256:abc", s.components()["assisted-installer-controller"])
}

func TestTagHasNoBlanks(t *testing.T) {
	t.Parallel()
	require.Equal(t, "v0.1.0-dirty-0123abcd-modified", tag("v0.1.0+dirty 0123abcd modified"))
	require.Equal(t, "devel", tag("(devel)"))
}
