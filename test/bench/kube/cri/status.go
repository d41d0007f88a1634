package cri

import (
	"context"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Version says who this is.
func (s *Server) Version(context.Context, *runtime.VersionRequest) (*runtime.VersionResponse, error) {
	return &runtime.VersionResponse{Version: "0.1.0", RuntimeName: "bench-cri", RuntimeVersion: "1.0.0", RuntimeApiVersion: "v1"}, nil
}

// Status always says ready: there is no network of pods that could be missing.
func (s *Server) Status(context.Context, *runtime.StatusRequest) (*runtime.StatusResponse, error) {
	return &runtime.StatusResponse{
		Status: &runtime.RuntimeStatus{Conditions: []*runtime.RuntimeCondition{
			{Type: runtime.RuntimeReady, Status: true}, {Type: runtime.NetworkReady, Status: true},
		}},
		RuntimeHandlers: []*runtime.RuntimeHandler{{Features: &runtime.RuntimeHandlerFeatures{}}},
		Features:        &runtime.RuntimeFeatures{},
	}, nil
}

// RuntimeConfig makes the kubelet make control groups itself, if it wants any.
func (s *Server) RuntimeConfig(context.Context, *runtime.RuntimeConfigRequest) (*runtime.RuntimeConfigResponse, error) {
	return &runtime.RuntimeConfigResponse{Linux: &runtime.LinuxRuntimeConfiguration{CgroupDriver: runtime.CgroupDriver_CGROUPFS}}, nil
}

// UpdateRuntimeConfig takes the addresses of pods, which are not used.
func (s *Server) UpdateRuntimeConfig(context.Context, *runtime.UpdateRuntimeConfigRequest) (*runtime.UpdateRuntimeConfigResponse, error) {
	return &runtime.UpdateRuntimeConfigResponse{}, nil
}

// ListContainerStats names the containers that run; what they use is not measured.
func (s *Server) ListContainerStats(context.Context, *runtime.ListContainerStatsRequest) (*runtime.ListContainerStatsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := &runtime.ListContainerStatsResponse{}
	for _, one := range s.containers {
		runs, _, err := s.running(one)
		if err != nil {
			return nil, err
		}
		if runs {
			found.Stats = append(found.Stats, &runtime.ContainerStats{Attributes: &runtime.ContainerAttributes{
				Id: one.ID, Metadata: one.Config.GetMetadata(), Labels: one.Config.GetLabels(), Annotations: one.Config.GetAnnotations(),
			}})
		}
	}
	return found, nil
}

// ListPodSandboxStats has nothing to tell: pods are not measured.
func (s *Server) ListPodSandboxStats(context.Context, *runtime.ListPodSandboxStatsRequest) (*runtime.ListPodSandboxStatsResponse, error) {
	return &runtime.ListPodSandboxStatsResponse{}, nil
}
