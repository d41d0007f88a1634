package cluster

import "slipway/api/kube/resource"

// Mirrored returns what mirrors make of an AgentClusterInstall with an annotation: changes of the install-config, and manifests.
func Mirrored(annotation string, m *resource.Mirrors) (overrides string, manifests map[string]string, err error) {
	if overrides, err = mirrorOverrides(annotation, m); err == nil {
		manifests, err = mirrorManifests(m)
	}
	return overrides, manifests, err
}
