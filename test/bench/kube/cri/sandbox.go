package cri

import (
	"cmp"
	"context"
	"net"
	"os"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// RunPodSandbox begins a pod: there is nothing to set up.
func (s *Server) RunPodSandbox(_ context.Context, r *runtime.RunPodSandboxRequest) (*runtime.RunPodSandboxResponse, error) {
	if r.GetConfig().GetMetadata() == nil {
		return nil, status.Error(codes.InvalidArgument, "require the metadata of a pod, found none")
	}
	one := &sandbox{ID: newID(), Created: s.o.Now().UnixNano(), Boot: s.o.Boot, Handler: r.GetRuntimeHandler(), Config: r.GetConfig()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.saveSandbox(one); err != nil {
		return nil, err
	}
	s.sandboxes[one.ID] = one
	return &runtime.RunPodSandboxResponse{PodSandboxId: one.ID}, nil
}

// StopPodSandbox ends all that runs in a pod, at once.
func (s *Server) StopPodSandbox(ctx context.Context, r *runtime.StopPodSandboxRequest) (*runtime.StopPodSandboxResponse, error) {
	for _, one := range s.of(r.GetPodSandboxId()) {
		if err := s.stop(ctx, one, 0); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.sandboxes[r.GetPodSandboxId()]; one != nil && !one.Stopped {
		one.Stopped = true
		return &runtime.StopPodSandboxResponse{}, s.saveSandbox(one)
	}
	return &runtime.StopPodSandboxResponse{}, nil
}

// RemovePodSandbox forgets a pod and its containers.
func (s *Server) RemovePodSandbox(ctx context.Context, r *runtime.RemovePodSandboxRequest) (*runtime.RemovePodSandboxResponse, error) {
	for _, one := range s.of(r.GetPodSandboxId()) {
		if err := s.remove(ctx, one); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.sandboxes[r.GetPodSandboxId()]
	if one == nil {
		return &runtime.RemovePodSandboxResponse{}, nil
	}
	if err := os.RemoveAll(s.folder("sandboxes", one.ID)); err != nil {
		return nil, err
	}
	delete(s.sandboxes, one.ID)
	return &runtime.RemovePodSandboxResponse{}, nil
}

// PodSandboxStatus returns the state of a pod.
func (s *Server) PodSandboxStatus(_ context.Context, r *runtime.PodSandboxStatusRequest) (*runtime.PodSandboxStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.sandboxes[r.GetPodSandboxId()]
	if one == nil {
		return nil, status.Errorf(codes.NotFound, "require a known pod, found %q", r.GetPodSandboxId())
	}
	node := runtime.NamespaceMode_NODE
	return &runtime.PodSandboxStatusResponse{Status: &runtime.PodSandboxStatus{
		Id: one.ID, Metadata: one.Config.GetMetadata(), State: s.sandboxState(one), CreatedAt: one.Created,
		Network: &runtime.PodSandboxNetworkStatus{Ip: hostAddress()},
		Linux: &runtime.LinuxPodSandboxStatus{Namespaces: &runtime.Namespace{
			// The kubelet makes a new pod where these differ from its request.
			Options: cmp.Or(
				one.Config.GetLinux().GetSecurityContext().GetNamespaceOptions(),
				&runtime.NamespaceOption{Network: node, Pid: node, Ipc: node},
			),
		}},
		Labels: one.Config.GetLabels(), Annotations: one.Config.GetAnnotations(), RuntimeHandler: one.Handler,
	}}, nil
}

// ListPodSandbox lists pods, the newest first.
func (s *Server) ListPodSandbox(_ context.Context, r *runtime.ListPodSandboxRequest) (*runtime.ListPodSandboxResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := r.GetFilter()
	found := &runtime.ListPodSandboxResponse{}
	for _, one := range s.sandboxes {
		state := s.sandboxState(one)
		if wanted.GetId() != "" && wanted.GetId() != one.ID || wanted.GetState() != nil && wanted.GetState().GetState() != state ||
			!matches(one.Config.GetLabels(), wanted.GetLabelSelector()) {
			continue
		}
		found.Items = append(found.Items, &runtime.PodSandbox{
			Id: one.ID, Metadata: one.Config.GetMetadata(), State: state, CreatedAt: one.Created,
			Labels: one.Config.GetLabels(), Annotations: one.Config.GetAnnotations(), RuntimeHandler: one.Handler,
		})
	}
	slices.SortFunc(found.Items, func(a, b *runtime.PodSandbox) int { return cmp.Compare(b.GetCreatedAt(), a.GetCreatedAt()) })
	return found, nil
}

func (s *Server) sandboxState(one *sandbox) runtime.PodSandboxState {
	if one.Stopped || one.Boot != s.o.Boot {
		return runtime.PodSandboxState_SANDBOX_NOTREADY
	}
	return runtime.PodSandboxState_SANDBOX_READY
}

// of lists the containers of a pod.
func (s *Server) of(sandbox string) []*instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*instance
	for _, one := range s.containers {
		if one.Sandbox == sandbox {
			found = append(found, one)
		}
	}
	return found
}

// hostAddress returns the address that the host sends from; empty while it has no route.
func hostAddress() string {
	// Nothing is sent: a datagram socket only looks the route up.
	connection, err := net.Dial("udp", "192.0.2.1:9")
	if err != nil {
		return ""
	}
	defer connection.Close() //nolint:errcheck // nothing was sent
	address, ok := connection.LocalAddr().(*net.UDPAddr)
	if !ok {
		return ""
	}
	return address.IP.String()
}
