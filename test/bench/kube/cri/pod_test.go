package cri_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestImageWithoutProgramRunsAsNothingUntilItIsStopped(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	pod := h.pod(t, "one")
	id := h.start(t, pod, &runtime.ContainerConfig{Image: image("registry.example/unknown:2")})
	require.Equal(t, runtime.ContainerState_CONTAINER_RUNNING, h.status(t, id).GetState())
	require.FileExists(t, filepath.Join(h.logs, "one", "main", "0.log"))
	_, err := h.StopPodSandbox(t.Context(), &runtime.StopPodSandboxRequest{PodSandboxId: pod})
	require.NoError(t, err)
	found := h.status(t, id)
	require.Equal(t, runtime.ContainerState_CONTAINER_EXITED, found.GetState())
	require.Zero(t, found.GetExitCode())
}

func TestListsHaveWhatTheirFiltersAskFor(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	one, two := h.pod(t, "one"), h.pod(t, "two")
	id := h.start(t, one, &runtime.ContainerConfig{Image: image("a"), Labels: map[string]string{"app": "a"}})
	h.start(t, two, &runtime.ContainerConfig{Image: image("b"), Labels: map[string]string{"app": "b"}})
	ids := func(filter *runtime.ContainerFilter) []string {
		found, err := h.ListContainers(t.Context(), &runtime.ListContainersRequest{Filter: filter})
		require.NoError(t, err)
		var names []string
		for _, one := range found.GetContainers() {
			names = append(names, one.GetId())
		}
		return names
	}
	require.Len(t, ids(nil), 2)
	exited := &runtime.ContainerStateValue{State: runtime.ContainerState_CONTAINER_EXITED}
	require.Empty(t, ids(&runtime.ContainerFilter{State: exited}))
	require.Equal(t, []string{id}, ids(&runtime.ContainerFilter{PodSandboxId: one}))
	require.Equal(t, []string{id}, ids(&runtime.ContainerFilter{LabelSelector: map[string]string{"app": "a"}}))
	require.Equal(t, []string{id}, ids(&runtime.ContainerFilter{Id: id}))
	pods, err := h.ListPodSandbox(
		t.Context(),
		&runtime.ListPodSandboxRequest{Filter: &runtime.PodSandboxFilter{LabelSelector: map[string]string{"pod": "two"}}},
	)
	require.NoError(t, err)
	require.Len(t, pods.GetItems(), 1)
	require.Equal(t, two, pods.GetItems()[0].GetId())
	stats, err := h.ListContainerStats(t.Context(), &runtime.ListContainerStatsRequest{})
	require.NoError(t, err)
	require.Len(t, stats.GetStats(), 2)
	images, err := h.images.ListImages(t.Context(), &runtime.ListImagesRequest{})
	require.NoError(t, err)
	require.Len(t, images.GetImages(), 2)
}

func TestRemovedPodLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	pod := h.pod(t, "one")
	id := h.start(t, pod, &runtime.ContainerConfig{Image: image("a")})
	for range 2 { // again is fine
		_, err := h.RemovePodSandbox(context.Background(), &runtime.RemovePodSandboxRequest{PodSandboxId: pod})
		require.NoError(t, err)
	}
	_, err := h.ContainerStatus(t.Context(), &runtime.ContainerStatusRequest{ContainerId: id})
	require.Equal(t, codes.NotFound, status.Code(err))
	_, err = h.PodSandboxStatus(t.Context(), &runtime.PodSandboxStatusRequest{PodSandboxId: pod})
	require.Equal(t, codes.NotFound, status.Code(err))
	for _, folder := range []string{"containers", "sandboxes"} {
		left, err := os.ReadDir(filepath.Join(h.root, folder))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

func TestRuntimeIsReadyAndHasTheImagesOfRegistries(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	state, err := h.Status(t.Context(), &runtime.StatusRequest{})
	require.NoError(t, err)
	require.Len(t, state.GetStatus().GetConditions(), 2)
	for _, condition := range state.GetStatus().GetConditions() {
		require.True(t, condition.GetStatus(), condition.GetType())
	}
	found, err := h.images.ImageStatus(t.Context(), &runtime.ImageStatusRequest{Image: image("registry.example/x:1")})
	require.NoError(t, err)
	require.Equal(t, "registry.example/x:1", found.GetImage().GetId())
	require.NotZero(t, found.GetImage().GetSize(), "kubelets refuse images without a size")
	_, err = h.images.PullImage(t.Context(), &runtime.PullImageRequest{Image: image("registry.example/x:1")})
	require.NoError(t, err)
	short, err := h.images.ImageStatus(t.Context(), &runtime.ImageStatusRequest{Image: image("somebody/x:1")})
	require.NoError(t, err)
	require.Nil(t, short.GetImage())
	_, err = h.images.PullImage(t.Context(), &runtime.PullImageRequest{Image: image("somebody/x:1")})
	require.Equal(t, codes.NotFound, status.Code(err))
	_, err = h.images.ImageFsInfo(t.Context(), &runtime.ImageFsInfoRequest{})
	require.NoError(t, err)
}
