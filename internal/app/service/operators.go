package service

import "slipway/internal/cluster/operators"

// operatorOptions say what operators may count on.
type operatorOptions struct {
	NVIDIARequireGPU bool `name:"nvidia-require-gpu" default:"true" negatable:"" env:"NVIDIA_REQUIRE_GPU" help:"The operator nvidia-gpu requires a host with such a GPU."`
	AMDRequireGPU    bool `name:"amd-require-gpu" default:"true" negatable:"" env:"AMD_REQUIRE_GPU" help:"The operator amd-gpu requires a host with such a GPU."`
}

func (o operatorOptions) rules() operators.Options {
	return operators.Options{NVIDIAWithoutGPU: !o.NVIDIARequireGPU, AMDWithoutGPU: !o.AMDRequireGPU}
}
