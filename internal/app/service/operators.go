package service

import (
	"slipway/internal/cluster/operators"
	"slipway/internal/cluster/validation"
)

// operatorOptions say what operators may count on.
type operatorOptions struct {
	NVIDIARequireGPU bool `name:"nvidia-require-gpu" default:"true" negatable:"" env:"NVIDIA_REQUIRE_GPU" help:"The operator nvidia-gpu requires a host with such a GPU."`
	AMDRequireGPU    bool `name:"amd-require-gpu" default:"true" negatable:"" env:"AMD_REQUIRE_GPU" help:"The operator amd-gpu requires a host with such a GPU."`
}

// rules returns the settings of validations.
func (s *Service) rules() *validation.Options {
	out := validation.DefaultOptions()
	out.SingleNodeDNS = s.options.SingleNodeDNS
	out.EdgeProducts = s.switches.edgeProducts
	out.Operators = operators.Options{NVIDIARequireGPU: s.options.NVIDIARequireGPU, AMDRequireGPU: s.options.AMDRequireGPU}
	out.DisabledHost, out.DisabledCluster = s.switches.disabledHost, s.switches.disabledCluster
	return &out
}
