package container_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/test/bench/kube/container"
)

func TestRunRefusesToEndTheProcessesOfItsHost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, container.WriteSpec(dir, container.Spec{Command: []string{"/bin/true"}}))
	require.ErrorContains(t, container.Run(dir, time.Now), "require to be process 1 of a namespace")
	_, err := container.ReadExit(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestExitIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, exit := range []container.Exit{
		{Finished: at, Reason: "Completed"},
		{Code: 3, Finished: at, Reason: "Error"},
		{Code: 128, Finished: at, Reason: "StartError", Message: "why"},
	} {
		require.NoError(t, container.WriteExit(dir, exit))
		found, err := container.ReadExit(dir)
		require.NoError(t, err)
		require.Equal(t, exit, found)
	}
	require.Equal(t, container.Exit{Finished: at, Reason: "Completed"}, container.Exited(0, at))
	require.Equal(t, container.Exit{Code: 137, Finished: at, Reason: "Error"}, container.Exited(137, at))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing unfinished is left")
}

func TestBrokenFileIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "exit.json"), nil, 0o600))
	_, err := container.ReadExit(dir)
	require.ErrorContains(t, err, "exit.json")
}
