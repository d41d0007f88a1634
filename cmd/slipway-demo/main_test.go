package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the demo, which ends its process after its help.
func TestMain(m *testing.M) {
	if args := os.Args[1:]; len(args) == 1 && args[0] == "--help" {
		os.Exit(run(args, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func TestHelpShowsTheFlagsOfTheDemoAndItsCommands(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	help, err := exec.CommandContext(t.Context(), self, "--help").Output()
	require.NoError(t, err)
	for _, part := range []string{"\n  machine ", "\n  cluster ", "\n  controller ", "--hosts=M+W", "--keep "} {
		require.Contains(t, string(help), part)
	}
	require.NotContains(t, string(help), "\n  installer", "only programs of releases call it")
}

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
