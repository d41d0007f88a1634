package service

import (
	"slipway/internal/cluster/operators"
	"slipway/internal/cluster/validation"
)

// rules returns the settings of validations.
func (s *Service) rules() *validation.Options {
	out := validation.DefaultOptions()
	out.SingleNodeDNS = s.options.SingleNodeDNS
	out.EdgeProducts = s.variables.EdgeProducts
	out.Operators = operators.Options{NVIDIARequireGPU: s.options.NVIDIARequireGPU, AMDRequireGPU: s.options.AMDRequireGPU}
	out.DisabledHost, out.DisabledCluster = s.variables.DisabledHost, s.variables.DisabledCluster
	return &out
}
