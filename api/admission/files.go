package admission

import (
	"slices"

	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
)

// filesOf lists the files of a cluster that machines may read; users read all.
var filesOf = map[auth.Role][]string{
	// The bootstrap host takes its config; the configs of the others come as their host's own.
	agent: {"bootstrap.ign"},
	// The administrator's kubeconfig applies late manifests after the installation, with rights that its service account lacks.
	controller: {"kubeconfig-noingress", "custom_manifests.json"},
	// Those that openshift/assisted-installer asks for (src/installer/installer.go,
	// src/assisted_installer_controller/assisted_installer_controller.go).
	foreign: {"bootstrap.ign", "master.ign", "worker.ign", "arbiter.ign", "kubeconfig-noingress", "custom_manifests.json"},
}

// CheckFile refuses a file of a cluster that is not for the caller.
func CheckFile(caller Caller, name string) error {
	if caller.Role == agent && !caller.Bootstrap {
		return httpapi.Errorf(httpapi.ErrForbidden,
			"require the host that bootstraps the cluster, from its preparation until it reboots, for %s", name)
	}
	allowed, limited := filesOf[caller.Role]
	if limited && !slices.Contains(allowed, name) {
		return httpapi.Errorf(httpapi.ErrForbidden, "require a credential of the role admin for %s, found %s", name, caller.Role)
	}
	return nil
}
