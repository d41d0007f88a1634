package evaluation

import (
	"context"

	"github.com/google/uuid"

	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Criteria decide what the hardware of a host must have.
type Criteria struct {
	cluster      *model.Cluster // nil for unbound hosts
	version      string
	requirements model.RoleRequirements
}

func (e *Evaluator) criteriaOf(c *model.Cluster) Criteria {
	return Criteria{cluster: c, version: c.OpenShiftVersion, requirements: e.requirements(c.OpenShiftVersion)}
}

// CriteriaFor reads the criteria for a host: of its cluster, or of the version its InfraEnv is for.
func (e *Evaluator) CriteriaFor(ctx context.Context, infraEnvID, hostID uuid.UUID) (Criteria, error) {
	found, err := e.store.RequirementsInput(ctx, infraEnvID, hostID)
	if err != nil {
		return Criteria{}, err
	}
	by := Criteria{version: found.OpenShiftVersion, requirements: e.requirements(found.OpenShiftVersion)}
	if found.Bound {
		by.cluster = &model.Cluster{
			Kind: found.ClusterKind, ControlPlaneCount: found.ControlPlaneCount, OpenShiftVersion: found.OpenShiftVersion,
		}
	}
	return by, nil
}

// EvaluateDisks decides which disks of an inventory can be installed to.
func (e *Evaluator) EvaluateDisks(h *model.Host, inv *wire.Inventory, by Criteria) {
	hardware.ApplyDiskEligibility(inv, hardware.DiskSpec{
		MinSizeGB:        validation.RequirementsOf(by.requirements, h.EffectiveRole(), by.cluster, inv, e.rules).DiskSizeGB,
		OpenShiftVersion: by.version,
		CPUArchitecture:  inv.CPU.Architecture,
	})
}

// DiskSpeedLimit returns how many milliseconds a disk of a host may take to sync before a warning; zero: any time.
func (e *Evaluator) DiskSpeedLimit(h *model.Host) int {
	return validation.RequirementsOf(e.requirements(""), h.EffectiveRole(), nil, h.Inventory, e.rules).DiskSpeedMS
}
