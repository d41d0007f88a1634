package cri

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"slipway/test/bench/kube/container"
)

// ListContainers lists containers, the newest first.
func (s *Server) ListContainers(_ context.Context, r *runtime.ListContainersRequest) (*runtime.ListContainersResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := r.GetFilter()
	found := &runtime.ListContainersResponse{}
	for _, one := range s.containers {
		state, _, err := s.state(one)
		if err != nil {
			return nil, err
		}
		if wanted.GetId() != "" && wanted.GetId() != one.ID || wanted.GetPodSandboxId() != "" && wanted.GetPodSandboxId() != one.Sandbox ||
			wanted.GetState() != nil &&
				wanted.GetState().GetState() != state || !matches(one.Config.GetLabels(), wanted.GetLabelSelector()) {
			continue
		}
		found.Containers = append(found.Containers, &runtime.Container{
			Id: one.ID, PodSandboxId: one.Sandbox, Metadata: one.Config.GetMetadata(), Image: one.Config.GetImage(),
			ImageRef: one.Config.GetImage().GetImage(), ImageId: one.Config.GetImage().GetImage(), State: state, CreatedAt: one.Created,
			Labels: one.Config.GetLabels(), Annotations: one.Config.GetAnnotations(),
		})
	}
	slices.SortFunc(found.Containers, func(a, b *runtime.Container) int { return cmp.Compare(b.GetCreatedAt(), a.GetCreatedAt()) })
	return found, nil
}

// ContainerStatus returns the state of a container.
func (s *Server) ContainerStatus(_ context.Context, r *runtime.ContainerStatusRequest) (*runtime.ContainerStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.containers[r.GetContainerId()]
	if one == nil {
		return nil, status.Errorf(codes.NotFound, "require a known container, found %q", r.GetContainerId())
	}
	state, exit, err := s.state(one)
	if err != nil {
		return nil, err
	}
	found := &runtime.ContainerStatus{
		Id: one.ID, Metadata: one.Config.GetMetadata(), State: state, CreatedAt: one.Created, StartedAt: one.Started,
		Image: one.Config.GetImage(), ImageRef: one.Config.GetImage().GetImage(), ImageId: one.Config.GetImage().GetImage(),
		Labels: one.Config.GetLabels(), Annotations: one.Config.GetAnnotations(), Mounts: one.Config.GetMounts(),
		LogPath: logPath(s.sandboxes[one.Sandbox], one),
	}
	if state == runtime.ContainerState_CONTAINER_EXITED {
		found.FinishedAt, found.ExitCode, found.Reason, found.Message = exit.Finished.UnixNano(), exit.Code, exit.Reason, exit.Message
	}
	return &runtime.ContainerStatusResponse{Status: found}, nil
}

func (s *Server) state(one *instance) (runtime.ContainerState, container.Exit, error) {
	runs, exit, err := s.running(one)
	switch {
	case runs:
		return runtime.ContainerState_CONTAINER_RUNNING, exit, err
	case one.Started == 0:
		return runtime.ContainerState_CONTAINER_CREATED, exit, err
	default:
		return runtime.ContainerState_CONTAINER_EXITED, exit, err
	}
}

// ReopenContainerLog makes a container write to a new file after the kubelet moved the old.
func (s *Server) ReopenContainerLog(_ context.Context, r *runtime.ReopenContainerLogRequest) (*runtime.ReopenContainerLogResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.containers[r.GetContainerId()]
	if one == nil {
		return nil, status.Errorf(codes.NotFound, "require a known container, found %q", r.GetContainerId())
	}
	runs, _, err := s.running(one)
	if err != nil {
		return nil, err
	}
	if !runs {
		return nil, status.Errorf(codes.FailedPrecondition, "require a container that runs, found %q", one.ID)
	}
	if one.PID == 0 {
		return &runtime.ReopenContainerLogResponse{}, s.emptyLog(one)
	}
	if err := syscall.Kill(one.PID, container.Reopen()); err != nil {
		return nil, err
	}
	return &runtime.ReopenContainerLogResponse{}, nil
}

// emptyLog makes the log of a container that does nothing: kubelets look for the file.
func (s *Server) emptyLog(one *instance) error {
	path := logPath(s.sandboxes[one.Sandbox], one)
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a kubelet's own folder
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o640) //nolint:gosec // named by the kubelet
	if err != nil {
		return err
	}
	return f.Close()
}
