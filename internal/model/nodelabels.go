package model

import (
	"maps"
	"slices"
	"strings"
)

// KubeletLabels lists the labels of a host's node that its kubelet may set itself, as key=value in the order of the keys.
func (h *Host) KubeletLabels() []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(h.NodeLabels)) {
		if SetByKubelet(key) {
			out = append(out, key+"="+h.NodeLabels[key])
		}
	}
	return out
}

// SetByKubelet reports whether a kubelet may set a label of its own node: it does not start with another one in the domains of
// Kubernetes (k8s.io/kubernetes, pkg/kubelet/apis/well_known_labels.go).
func SetByKubelet(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	if !found || !within(domain, "kubernetes.io") && !within(domain, "k8s.io") {
		return true
	}
	return within(domain, "kubelet.kubernetes.io") || within(domain, "node.kubernetes.io") || kubeletLabels[key]
}

// kubeletLabels are single labels of the domain kubernetes.io that kubelets set.
var kubeletLabels = map[string]bool{"topology.kubernetes.io/region": true, "topology.kubernetes.io/zone": true}

func within(domain, parent string) bool {
	return domain == parent || strings.HasSuffix(domain, "."+parent)
}
