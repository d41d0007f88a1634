package discovery

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// criteria are what the hardware of a host is evaluated against.
type criteria struct {
	cluster      *model.Cluster // nil for unbound hosts
	version      string
	requirements model.RoleRequirements
}

func (s *Service) criteriaOf(c *model.Cluster) criteria {
	return criteria{cluster: c, version: c.OpenShiftVersion, requirements: s.requirements(c.OpenShiftVersion)}
}

// criteriaFor reads the criteria for a host: those of its cluster, or of the version its InfraEnv is for.
func (s *Service) criteriaFor(ctx context.Context, infraEnvID, hostID uuid.UUID) (criteria, error) {
	found, err := s.store.RequirementsInput(ctx, infraEnvID, hostID)
	if err != nil {
		return criteria{}, err
	}
	by := criteria{version: found.OpenShiftVersion, requirements: s.requirements(found.OpenShiftVersion)}
	if found.Bound {
		by.cluster = &model.Cluster{
			Kind: found.ClusterKind, ControlPlaneCount: found.ControlPlaneCount, OpenShiftVersion: found.OpenShiftVersion,
		}
	}
	return by, nil
}

// evaluateDisks decides which disks of an inventory can be installed to.
func (s *Service) evaluateDisks(h *model.Host, inv *wire.Inventory, by criteria) {
	validation.ApplyDiskEligibility(inv, validation.DiskSpec{
		MinSizeGB:        validation.RequirementsOf(by.requirements, h.EffectiveRole(), by.cluster, inv, s.rules).DiskSizeGB,
		OpenShiftVersion: by.version,
		CPUArchitecture:  inv.CPU.Architecture,
	})
}

// chooseDisk keeps the installation disk of a host while it can be installed to, and
// chooses the default one otherwise.
func chooseDisk(h *model.Host) {
	for _, ref := range []string{h.InstallationDiskID, h.InstallationDiskPath} {
		if d := validation.FindDisk(h.Inventory, ref); d != nil && d.InstallationEligibility.Eligible {
			h.InstallationDiskID, h.InstallationDiskPath = validation.DiskID(d), devicePath(d)
			return
		}
	}
	h.InstallationDiskID, h.InstallationDiskPath = "", ""
	if d := validation.DefaultInstallationDisk(h.Inventory); d != nil {
		h.InstallationDiskID, h.InstallationDiskPath = validation.DiskID(d), devicePath(d)
	}
}

func devicePath(d *wire.Disk) string {
	if strings.HasPrefix(d.Path, "/dev/") {
		return d.Path
	}
	return "/dev/" + d.Name
}
