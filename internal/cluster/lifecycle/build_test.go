package lifecycle_test

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/wire"
)

var now = time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)

// fineHost makes the facts of a day-1 host that passes everything.
func fineHost() lifecycle.HostFacts {
	return lifecycle.HostFacts{
		Now: now, Timeouts: lifecycle.DefaultTimeouts(), Role: model.RoleMaster,
		Conditions:    lifecycle.HostConditionsOf(nil),
		ClusterStatus: model.ClusterReady,
	}
}

// fineCluster makes the facts of a cluster that is ready, and enough of whose hosts install.
func fineCluster() lifecycle.ClusterFacts {
	return lifecycle.ClusterFacts{
		Now: now, Timeouts: lifecycle.DefaultTimeouts(), Conditions: lifecycle.ClusterConditionsOf(nil),
		Installing: true,
	}
}

// host makes a host with a role, a status and hardware: cores, GiB of memory, GB of disk.
func host(i int, role model.Role, status model.HostStatus, hardware ...int) *model.Host {
	h := &model.Host{
		ID:   uuid.MustParse(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)),
		Kind: model.KindHost, Role: role, Status: status, RequestedHostname: fmt.Sprintf("node-%d", i),
	}
	if len(hardware) == 3 {
		d := wire.Disk{Name: "sda", DriveType: wire.DriveTypeSSD, SizeBytes: hardware[2] * 1_000_000_000}
		d.InstallationEligibility.Eligible = true
		h.Inventory = &wire.Inventory{
			CPU: wire.CPU{Count: hardware[0]}, Memory: wire.Memory{PhysicalBytes: hardware[1] << 30}, Disks: []wire.Disk{d},
		}
	}
	return h
}

func hosts(role model.Role, statuses ...model.HostStatus) []*model.Host {
	out := make([]*model.Host, len(statuses))
	for i, s := range statuses {
		out[i] = host(int(role[0])*100+i, role, s)
	}
	return out
}

func failed(id string) []model.ValidationResult {
	return []model.ValidationResult{{ID: id, Status: model.ValidationFailure, Message: "because of " + id}}
}
