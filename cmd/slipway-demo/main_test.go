package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDemoSaysWhichServiceItMisses(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	missing := filepath.Join(t.TempDir(), "slipway")
	require.NotZero(t, run([]string{"--hosts", "0", "--service", missing}, &out, &errs))
	require.Contains(t, errs.String(), "slipway-demo: require the program of the service (--service, make build): stat "+missing)
}

func TestFlagsOfTheDemoNeedNoCommand(t *testing.T) {
	t.Parallel()
	service := filepath.Join(t.TempDir(), "slipway")
	require.NoError(t, os.WriteFile(service, nil, 0o600))
	var out, errs bytes.Buffer
	require.NotZero(t, run([]string{"--hosts", "none", "--service", service}, &out, &errs))
	require.Contains(t, errs.String(), "require masters and workers such as 3+2")
}

func TestPartsOfASimulatedClusterAreCommands(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"machine", "cluster", "controller"} {
		var out, errs bytes.Buffer
		require.NotZero(t, run([]string{part}, &out, &errs))
		require.Contains(t, errs.String(), "missing flags: ", part)
	}
	var out, errs bytes.Buffer
	require.NotZero(t, run([]string{"installer", "create", "manifests", "--dir", t.TempDir()}, &out, &errs))
	require.Contains(t, errs.String(), "OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE is not set", "the installer refuses as the real one does")
}
