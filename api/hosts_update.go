package api

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/util/validation"

	"slipway/api/admission"
	"slipway/internal/cluster/answers"
	"slipway/internal/cluster/definition"
	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// V2UpdateHost changes the settings of a host that is not being installed.
func (s *server) V2UpdateHost(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) error {
	var params wire.HostUpdateParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	if err := s.checkNewRole(r.Context(), infraEnvID, hostID, params.HostRole); err != nil {
		return err
	}
	return s.changeHost(created, w, r, infraEnvID, hostID, func(h *model.Host, _ *store.Tx) error { return applyHost(h, params) })
}

// checkNewRole refuses a role that hosts of the cluster cannot have.
func (s *server) checkNewRole(ctx context.Context, infraEnvID, hostID uuid.UUID, role *wire.HostUpdateParamsHostRole) error {
	if role == nil || model.Role(*role) != model.RoleArbiter {
		return nil
	}
	h, err := s.Store.Host(ctx, infraEnvID, hostID)
	if err != nil || h.ClusterID == nil {
		return err
	}
	c, err := s.Store.Cluster(ctx, *h.ClusterID)
	if err != nil {
		return err
	}
	return checkHostRole(model.RoleArbiter, c)
}

// changeHost runs fn on a host whose status allows changes, has it evaluated again and
// answers with it.
func (s *server) changeHost(
	how reply, w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID, fn func(*model.Host, *store.Tx) error,
) error {
	_, err := s.Store.UpdateHost(r.Context(), infraEnvID, hostID, func(h *model.Host, tx *store.Tx) error {
		if !lifecycle.ChangeableHosts.Has(h.Status) {
			return model.Conflictf("host %s cannot be changed: require a status before installation, found %s", answers.HostName(h), h.Status)
		}
		if err := fn(h, tx); err != nil {
			return err
		}
		tx.Refresh(h.ClusterID, h.InfraEnvID)
		return nil
	})
	if err != nil {
		return err
	}
	return s.replyHost(how, w, r, infraEnvID, hostID)
}

// applyHost applies a client's settings to a host; absent fields change nothing.
func applyHost(h *model.Host, p wire.HostUpdateParams) error {
	if err := applyFencing(h, p.FencingCredentials); err != nil {
		return err
	}
	if err := applyIgnitionEndpoint(h, p); err != nil {
		return err
	}
	if p.HostName != nil {
		if err := definition.CheckHostname(*p.HostName); err != nil {
			return err
		}
		h.RequestedHostname = *p.HostName
	}
	if p.HostRole != nil {
		h.Role = model.Role(*p.HostRole)
		h.Bootstrap = h.Bootstrap && (h.Role == model.RoleMaster || h.Role == model.RoleAutoAssign)
	}
	if err := applyPool(h, p.MachineConfigPoolName); err != nil {
		return err
	}
	if err := applyLabels(h, p.NodeLabels); err != nil {
		return err
	}
	if err := applyInstallationDisk(h, deref(p.DisksSelectedConfig)); err != nil {
		return err
	}
	return applyKeptDisks(h, deref(p.DisksSkipFormatting))
}

func applyPool(h *model.Host, pool *string) error {
	if pool == nil {
		return nil
	}
	if faults := validation.IsDNS1123Subdomain(*pool); *pool != "" && len(faults) > 0 {
		return model.Invalidf("machine_config_pool_name: require the name of a pool, found %q", *pool)
	}
	h.MachineConfigPoolName = *pool
	return nil
}

func applyLabels(h *model.Host, list *[]wire.NodeLabelParams) error {
	if list == nil {
		return nil
	}
	labels := labelsFromWire(*list)
	for key, value := range labels {
		if faults := validation.IsQualifiedName(key); len(faults) > 0 {
			return model.Invalidf("node_labels: require the key of a Kubernetes label, found %q (%s)", key, strings.Join(faults, "; "))
		}
		if faults := validation.IsValidLabelValue(value); len(faults) > 0 {
			return model.Invalidf(
				"node_labels: require the value of a Kubernetes label for %s, found %q (%s)",
				key,
				value,
				strings.Join(faults, "; "),
			)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if h.DayTwo() && !model.SetByKubelet(key) {
			return model.Invalidf("node_labels: the kubelet of a host that is added to a cluster cannot set %s: label the node with oc", key)
		}
	}
	h.NodeLabels = labels
	return nil
}

// applyInstallationDisk chooses the disk to install to. Clients name it by id, by path or by /dev/name (docs/reference/wire.md, "Names
// of disks"). A disk that the host cannot be installed to is a conflict with the host's state, as in assisted-service.
func applyInstallationDisk(h *model.Host, list []wire.DiskConfigParams) error {
	var chosen []string
	for _, d := range list {
		if deref(d.Role) == wire.DiskRoleInstall {
			chosen = append(chosen, d.ID)
		}
	}
	switch {
	case len(chosen) == 0:
		return nil
	case len(chosen) > 1:
		return model.Invalidf("disks_selected_config: require one disk with role install, found %d", len(chosen))
	}
	disk := hardware.FindDisk(h.Inventory, chosen[0])
	if disk == nil {
		return model.Conflictf("disks_selected_config: require a disk of host %s, found %q", answers.HostName(h), chosen[0])
	}
	if !disk.InstallationEligibility.Eligible {
		return model.Conflictf("disks_selected_config: require a disk that can be installed to, found %s: %s",
			chosen[0], strings.Join(disk.InstallationEligibility.NotEligibleReasons, "; "))
	}
	h.InstallationDiskID, h.InstallationDiskPath = hardware.DiskID(disk), or(disk.Path, "/dev/"+disk.Name)
	return nil
}

// applyKeptDisks chooses disks whose content is kept.
func applyKeptDisks(h *model.Host, list []wire.DiskSkipFormattingParams) error {
	for _, d := range list {
		disk := hardware.FindDisk(h.Inventory, d.DiskID)
		if disk == nil {
			return model.Invalidf("disks_skip_formatting: require a disk of host %s, found %q", answers.HostName(h), d.DiskID)
		}
		id := hardware.DiskID(disk)
		h.SkipFormattingDisks = slices.DeleteFunc(slices.Clone(h.SkipFormattingDisks), func(kept string) bool { return kept == id })
		if d.SkipFormatting {
			h.SkipFormattingDisks = append(h.SkipFormattingDisks, id)
		}
	}
	return nil
}
