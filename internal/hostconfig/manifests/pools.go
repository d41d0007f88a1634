package manifests

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"slipway/internal/model"
)

// shippedPools are the machine config pools that every cluster has; clusters with arbiters have the pool arbiter too.
var shippedPools = []string{"master", "worker"}

// CheckPools returns an error unless every host belongs to a machine config pool that the new cluster will have: a pool that OpenShift
// ships, or a pool among files (by folder and name). The error is a model.ErrInvalid that names the host and the existing pools.
func CheckPools(hosts []*model.Host, files map[string][]byte) error {
	known := slices.Clone(shippedPools)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !IsPatch(name) {
			known = append(known, poolsIn(name, files[name])...)
		}
	}
	for _, h := range hosts {
		if h.EffectiveRole() == model.RoleArbiter {
			known = append(known, string(model.RoleArbiter))
			break
		}
	}
	for _, h := range hosts {
		if pool := h.MachineConfigPoolName; pool != "" && !slices.Contains(known, pool) {
			return model.Invalidf("machine_config_pool_name of host %s: require a pool of the cluster or of its manifests (%s), found %q",
				h.Hostname(), strings.Join(known, ", "), pool)
		}
	}
	return nil
}

// poolsIn returns the names of the machine config pools in a file.
func poolsIn(name string, content []byte) []string {
	documents, err := Documents(name, content)
	if err != nil {
		return nil // reported where the file is read for the installer
	}
	var found []string
	for _, d := range documents {
		var o struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Metadata   struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		if yaml.Unmarshal(d, &o) != nil || o.Kind != "MachineConfigPool" ||
			!strings.HasPrefix(o.APIVersion, "machineconfiguration.openshift.io/") {
			continue
		}
		found = append(found, o.Metadata.Name)
	}
	return found
}
