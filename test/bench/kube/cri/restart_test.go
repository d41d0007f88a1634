package cri_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestContainersGoOnOverARestartOfTheRuntime(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	h := newHost(t)
	more := filepath.Join(t.TempDir(), "more")
	pod := h.pod(t, "one")
	id := h.shell(t, pod, `echo ready; while ! [ -e `+more+` ]; do sleep 0.05; done; echo done; exit 4`)
	idle := h.start(t, pod, &runtime.ContainerConfig{Image: image("unknown")})
	again := h.restarted(t, "first boot")
	require.Equal(t, runtime.ContainerState_CONTAINER_RUNNING, again.status(t, id).GetState())
	require.Equal(t, runtime.ContainerState_CONTAINER_RUNNING, again.status(t, idle).GetState())
	require.NoError(t, os.WriteFile(more, nil, 0o600))
	require.Equal(t, int32(4), again.ended(t, id).GetExitCode())
	require.Equal(t, int32(4), h.restarted(t, "first boot").status(t, id).GetExitCode())
}

func TestNothingRunsAfterThePowerWasCut(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	pod := h.pod(t, "one")
	idle := h.start(t, pod, &runtime.ContainerConfig{Image: image("unknown")})
	// A folder that was being made when it happened.
	require.NoError(t, os.Mkdir(filepath.Join(h.root, "containers", "half"), 0o700))
	again := h.restarted(t, "second boot")
	found := again.status(t, idle)
	require.Equal(t, runtime.ContainerState_CONTAINER_EXITED, found.GetState())
	require.Equal(t, int32(255), found.GetExitCode())
	require.NotEmpty(t, found.GetMessage())
	state, err := again.PodSandboxStatus(t.Context(), &runtime.PodSandboxStatusRequest{PodSandboxId: pod})
	require.NoError(t, err)
	require.Equal(t, runtime.PodSandboxState_SANDBOX_NOTREADY, state.GetStatus().GetState())
	listed, err := again.ListContainers(t.Context(), &runtime.ListContainersRequest{})
	require.NoError(t, err)
	require.Len(t, listed.GetContainers(), 1)
	require.NoDirExists(t, filepath.Join(h.root, "containers", "half"))
}

func TestContainerWhoseProcessWasKilledHasEnded(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	h := newHost(t)
	id := h.shell(t, h.pod(t, "one"), `echo ready; kill -9 $$`)
	require.Equal(t, int32(137), h.ended(t, id).GetExitCode())
}
