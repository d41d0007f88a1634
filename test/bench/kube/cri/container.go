package cri

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"slipway/test/bench/kube/container"
)

// searchPath is where programs are looked for, as images have it.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// CreateContainer describes a container that StartContainer runs.
func (s *Server) CreateContainer(_ context.Context, r *runtime.CreateContainerRequest) (*runtime.CreateContainerResponse, error) {
	if r.GetConfig().GetMetadata() == nil {
		return nil, status.Error(codes.InvalidArgument, "require the metadata of a container, found none")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	pod := s.sandboxes[r.GetPodSandboxId()]
	if pod == nil {
		return nil, status.Errorf(codes.NotFound, "require a known pod, found %q", r.GetPodSandboxId())
	}
	one := &instance{ID: newID(), Sandbox: pod.ID, Created: s.o.Now().UnixNano(), Config: r.GetConfig()}
	if err := s.saveContainer(one); err != nil {
		return nil, err
	}
	if err := container.WriteSpec(s.folder("containers", one.ID), s.spec(pod, one)); err != nil {
		return nil, err
	}
	s.containers[one.ID] = one
	return &runtime.CreateContainerResponse{ContainerId: one.ID}, nil
}

// spec returns the command of a container; without a command it does nothing.
func (s *Server) spec(pod *sandbox, one *instance) container.Spec {
	config := one.Config
	spec := container.Spec{Dir: config.GetWorkingDir(), Log: logPath(pod, one), Env: []string{searchPath, "HOME=/root"}}
	if program := s.program(config.GetImage()); program != "" {
		// As with images: a command replaces the program, arguments are added to it.
		spec.Command = append([]string{program}, config.GetArgs()...)
		if len(config.GetCommand()) > 0 {
			spec.Command = append(append([]string{}, config.GetCommand()...), config.GetArgs()...)
		}
	}
	for _, one := range config.GetEnvs() {
		spec.Env = append(spec.Env, one.GetKey()+"="+string(one.GetValue()))
	}
	for _, one := range config.GetMounts() {
		spec.Mounts = append(
			spec.Mounts,
			container.Mount{Host: one.GetHostPath(), Container: one.GetContainerPath(), ReadOnly: one.GetReadonly()},
		)
	}
	context := config.GetLinux().GetSecurityContext()
	if user := context.GetRunAsUser(); user != nil {
		spec.User = &container.User{
			UID: uint32(user.GetValue()),
			GID: uint32(context.GetRunAsGroup().GetValue()),
		} //nolint:gosec // as the kernel has it
	}
	return spec
}

// program returns the program of an image; empty for none.
func (s *Server) program(image *runtime.ImageSpec) string {
	for _, name := range []string{image.GetUserSpecifiedImage(), image.GetImage()} {
		found := cmp.Or(s.o.Programs[name], s.o.Programs[lastPart(name)])
		if found != "" {
			return found
		}
	}
	return ""
}

// lastPart returns the last part of an image's path, without tag and digest.
func lastPart(image string) string {
	image, _, _ = strings.Cut(image, "@")
	image = image[strings.LastIndex(image, "/")+1:]
	image, _, _ = strings.Cut(image, ":")
	return image
}

// logPath returns where the kubelet reads the output of a container.
func logPath(pod *sandbox, one *instance) string {
	if pod == nil || pod.Config.GetLogDirectory() == "" || one.Config.GetLogPath() == "" {
		return ""
	}
	return filepath.Join(pod.Config.GetLogDirectory(), one.Config.GetLogPath())
}

// RemoveContainer forgets a container, and ends it first where it runs.
func (s *Server) RemoveContainer(ctx context.Context, r *runtime.RemoveContainerRequest) (*runtime.RemoveContainerResponse, error) {
	s.mu.Lock()
	one := s.containers[r.GetContainerId()]
	s.mu.Unlock()
	if one == nil {
		return &runtime.RemoveContainerResponse{}, nil
	}
	return &runtime.RemoveContainerResponse{}, s.remove(ctx, one)
}

func (s *Server) remove(ctx context.Context, one *instance) error {
	if err := s.stop(ctx, one, 0); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.RemoveAll(s.folder("containers", one.ID)); err != nil {
		return err
	}
	delete(s.containers, one.ID)
	return nil
}

// UpdateContainerResources takes any limit: none is enforced.
func (s *Server) UpdateContainerResources(
	context.Context,
	*runtime.UpdateContainerResourcesRequest,
) (*runtime.UpdateContainerResourcesResponse, error) {
	return &runtime.UpdateContainerResourcesResponse{}, nil
}
