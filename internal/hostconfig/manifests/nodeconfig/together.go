package nodeconfig

import (
	"slices"

	"sigs.k8s.io/yaml"
)

// roleLabel names the pool of hosts that a MachineConfig is for.
const roleLabel = "machineconfiguration.openshift.io/role"

// CheckTogether returns why the controller could not read objects together, each of which it can read alone: sources of
// images with two policies, and a kernel with packages of another one.
func CheckTogether(documents [][]byte) error {
	var mirrors []mirrorSet
	roles := map[string]MachineConfigSpec{}
	for _, d := range documents {
		object, err := yaml.YAMLToJSON(d)
		if err != nil {
			continue // Check refuses it
		}
		mirrors = append(mirrors, mirrorsOf(object)...)
		var c machineConfig
		if decode(object, &c) != nil || c.Kind != "MachineConfig" || c.APIVersion != machineConfiguration.String() {
			continue
		}
		merged := roles[c.Labels[roleLabel]]
		merged.Extensions = slices.Concat(merged.Extensions, c.Spec.Extensions)
		if special(c.Spec.KernelType) {
			merged.KernelType = c.Spec.KernelType
		}
		roles[c.Labels[roleLabel]] = merged
	}
	for _, merged := range roles {
		if err := checkKernelDevel(merged); err != nil {
			return err
		}
	}
	return checkMirrors(mirrors)
}

// mirrorsOf returns the mirrors of an object, whichever of the three kinds it is.
func mirrorsOf(object []byte) []mirrorSet {
	var s struct {
		APIVersion string `json:"apiVersion"`
		Spec       struct {
			Digests  []mirrorSet `json:"imageDigestMirrors"`
			Tags     []mirrorSet `json:"imageTagMirrors"`
			Policies []mirrorSet `json:"repositoryDigestMirrors"`
		} `json:"spec"`
	}
	if decode(object, &s) != nil || s.APIVersion != clusterConfiguration.String() && s.APIVersion != operatorsAlpha.String() {
		return nil
	}
	return slices.Concat(s.Spec.Digests, s.Spec.Tags, s.Spec.Policies)
}
