package api

import (
	"context"
	"errors"

	"slipway/api/admission"
	"slipway/internal/cluster/answers"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
)

// checkFileInTime refuses files of a cluster to agents and installers of other implementations, whose token images contain, when none of
// their machines needs them: bootstrap.ign holds the cluster's keys, and is for its bootstrap host until that leaves the discovery image.
func (s *server) checkFileInTime(ctx context.Context, actor admission.Caller, c *model.Cluster, name string) error {
	if actor.Role != auth.RoleForeign {
		return nil
	}
	if name != "bootstrap.ign" {
		if c.Status == model.ClusterPreparingForInstallation || lifecycle.UnderInstallation.Has(c.Status) || name == "custom_manifests.json" {
			return nil
		}
		return httpapi.Errorf(httpapi.ErrForbidden, "require a cluster that is being installed for %s, found status %s", name, c.Status)
	}
	status, stage, err := s.Store.BootstrapState(ctx, c.ID)
	if err != nil && !errors.Is(err, model.ErrNotFound) {
		return err
	}
	if !lifecycle.FetchesConfigs(status, stage) {
		return httpapi.Errorf(httpapi.ErrForbidden, "%s is for the bootstrap host, from its preparation until it reboots", name)
	}
	return nil
}

// checkConfigInTime refuses the config of a host to agents, while the host is not being installed from the discovery image.
func checkConfigInTime(actor admission.Caller, h *model.Host) error {
	machine := actor.Role == auth.RoleAgent || actor.Role == auth.RoleForeign
	if machine && !lifecycle.FetchesConfigs(h.Status, h.Stage) {
		return httpapi.Errorf(httpapi.ErrForbidden,
			"the Ignition config of host %s is for its agent from the preparation until the host reboots", answers.HostName(h))
	}
	return nil
}
