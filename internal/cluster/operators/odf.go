package operators

import (
	"slipway/internal/cluster/features"
	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
)

const odfTitle = "OpenShift Data Foundation"

// Limits of the storage cluster (docs/reference/operator-rules.md, "Storage cluster of
// ODF").
const (
	odfHosts           = 3
	odfDiskBytes       = 25 * gb
	odfCPUPerDisk      = 2
	odfMemoryPerDisk   = 5 << 10 // MiB
	odfMasterCPU       = 6
	odfWorkerCPU       = 8
	odfMemory          = 19 << 10 // MiB
	odfAutoAssignHosts = 3
)

var odf = Operator{
	Name: "odf", Title: odfTitle,
	Description: "Offers file, block and object storage that survives the loss of a node.",
	Feature: features.Row{
		ID:       features.ODF,
		Limits:   []features.Limit{features.NotOn(model.ARM64), features.NotFor(features.ExternalOCI)},
		Excludes: features.Never(features.SNO, features.LVM, features.ExternalOCI),
	},
	Subscription: Subscription{
		Namespace: "openshift-storage", Name: "odf-operator",
		Group: "openshift-storage-operatorgroup", OwnNamespace: true, ClusterMonitoring: true,
	},
	Timeout:      usualTimeout,
	Dependencies: []string{"lso"},
	Needs: Needs{
		Master: Need{CPUCores: odfMasterCPU, RAMMiB: odfMemory, Also: []string{
			"Only in clusters without workers", "At least 3 hosts", "At least 1 SSD or HDD besides the installation disk on 3 hosts",
		}},
		Worker: Need{CPUCores: odfWorkerCPU, RAMMiB: odfMemory, Also: []string{
			"Only in clusters with workers", "5 GiB of memory more for every disk besides the installation disk",
			"2 CPU cores more for every disk besides the installation disk", "At least 3 workers",
			"At least 1 SSD or HDD besides the installation disk on 3 workers",
		}},
	},
	adjust:  odfNeed,
	host:    odfHost,
	cluster: odfCluster,
}

// odfStores reports whether hosts of a role hold the storage: the workers, or, without workers, the control plane with its arbiter.
func (p *Plan) odfStores(role model.Role) bool {
	switch role {
	case model.RoleMaster, model.RoleBootstrap, model.RoleArbiter:
		return p.odfWorkers() == 0
	}
	return true
}

// odfWorkers counts the present and planned workers. Suggested roles do not count: they depend on the requirements of hosts, which
// depend on this number.
func (p *Plan) odfWorkers() int {
	if p.undecided == 0 || len(p.hosts) == odfAutoAssignHosts {
		return p.askedWorkers
	}
	return max(p.askedWorkers, len(p.hosts)-p.cluster.ControlPlaneCount)
}

func odfNeed(p *Plan, h *model.Host, role model.Role, n Need) Need {
	if h == nil {
		return n // the same for every cluster, as users ask before they have hosts
	}
	if !p.odfStores(role) {
		return Need{}
	}
	if role == model.RoleArbiter {
		n = Need{CPUCores: odfMasterCPU, RAMMiB: odfMemory}
	}
	disks, _ := hardware.DataDisks(h, odfDiskBytes)
	disks = max(disks, 1)
	n.CPUCores += disks * odfCPUPerDisk
	n.RAMMiB += int64(disks) * odfMemoryPerDisk
	return n
}

func odfHost(p *Plan, h *model.Host) Result {
	if h.Role == model.RoleAutoAssign && len(p.hosts) != odfAutoAssignHosts {
		return pending(odfTitle+": require a role for the host unless the cluster has exactly %d, found auto-assign with %d hosts",
			odfAutoAssignHosts, len(p.hosts))
	}
	role := h.EffectiveRole()
	if !p.odfStores(role) {
		return success(odfTitle + " does not run on this host: the workers hold the storage")
	}
	count, largest := hardware.DataDisks(h, odfDiskBytes)
	least := odfDiskBytes + p.volumesOfMCE()
	switch {
	case largest < least && role != model.RoleWorker && len(p.hosts)-p.askedArbiters < odfHosts:
		return success(odfTitle + ": the disks of a control plane of two with an arbiter are counted for the cluster")
	case largest >= least:
		return success(odfTitle+" stores on %d disks of this host", count)
	case largest > 0:
		return failure(
			odfTitle+": require a disk of at least %d GB besides the installation disk, largest found has %d GB",
			least/gb,
			largest/gb,
		)
	}
	return failure(odfTitle + ": require at least one SSD, HDD or multipath disk besides the installation disk, found none")
}

func odfCluster(p *Plan) Result {
	switch {
	case len(p.hosts) < odfHosts:
		return failure(odfTitle+": require at least %d hosts, found %d", odfHosts, len(p.hosts))
	case p.waiting > 0:
		return pending(odfTitle+": require the inventories of all hosts, %d are missing", p.waiting)
	case p.undecided > 0 && len(p.hosts) != odfAutoAssignHosts:
		return failure(odfTitle+": require a role for every host unless the cluster has exactly %d, found auto-assign on %d of %d hosts",
			odfAutoAssignHosts, p.undecided, len(p.hosts))
	case p.odfWorkers() > 0 && p.odfWorkers() < odfHosts:
		return failure(odfTitle+": require no workers or at least %d, found %d", odfHosts, p.odfWorkers())
	}
	hosts, disks := p.odfDisks()
	if hosts < odfHosts {
		return failure(odfTitle+": require %d hosts with a disk of at least %d GB besides the installation disk, found %d",
			odfHosts, odfDiskBytes/gb, hosts)
	}
	return success(odfTitle+" stores on %d disks of %d hosts", disks, hosts)
}

// odfDisks counts the hosts that hold storage and their disks for it.
func (p *Plan) odfDisks() (hosts, disks int) {
	for _, h := range p.hosts {
		if !p.odfStores(h.EffectiveRole()) {
			continue
		}
		if n, _ := hardware.DataDisks(h, odfDiskBytes); n > 0 {
			hosts++
			disks += n
		}
	}
	return hosts, disks
}
