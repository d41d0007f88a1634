package roles_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/roles"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func suggest(c *model.Cluster, hosts ...*model.Host) map[int]model.Role {
	got := roles.Suggest(c, hosts, roles.Options{
		Requirements: openshift.RequirementsFor("4.21.0"), Validation: validation.DefaultOptions(),
	})
	out := map[int]model.Role{}
	for id, role := range got {
		out[int(id[15])] = role
	}
	return out
}

// free makes a known host without a role; hardware: CPUs, GiB of memory, GB of its disk, or nothing while it sent no inventory.
func free(i int, hardware ...int) *model.Host {
	h := &model.Host{ID: uuid.UUID{15: byte(i)}, Kind: model.KindHost, Role: model.RoleAutoAssign, Status: model.HostKnown}
	if len(hardware) == 0 {
		return h
	}
	disk := wire.Disk{Name: "sda", DriveType: wire.DriveTypeSSD, SizeBytes: hardware[2] * 1_000_000_000}
	disk.InstallationEligibility.Eligible = true
	h.Inventory = &wire.Inventory{
		CPU: wire.CPU{Count: hardware[0]}, Memory: wire.Memory{PhysicalBytes: hardware[1] << 30}, Disks: []wire.Disk{disk},
	}
	return h
}

func suggested(role model.Role, h *model.Host) *model.Host {
	h.SuggestedRole = role
	return h
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	const m, w, a = model.RoleMaster, model.RoleWorker, model.RoleArbiter
	three := &model.Cluster{ControlPlaneCount: 3}
	gpu := free(5, 4, 16, 120)
	gpu.Inventory.Gpus = []wire.Gpu{{Name: "x"}}
	chosen := free(6, 64, 256, 2000)
	chosen.Role = m
	dayTwo := free(7, 8, 32, 200)
	dayTwo.Kind = model.KindAddToExistingClusterHost
	gone := free(4, 8, 32, 200)
	gone.Status = model.HostDisconnected
	for _, tt := range []struct {
		name    string
		cluster *model.Cluster
		hosts   []*model.Host
		want    map[int]model.Role
	}{
		{
			"the smallest sufficient hosts become masters", three,
			[]*model.Host{free(1, 32, 128, 500), free(2, 8, 32, 200), free(3, 4, 16, 120), free(4, 16, 64, 200)},
			map[int]model.Role{1: w, 2: m, 3: m, 4: m},
		},
		{
			"hosts too small for a master become workers", three,
			[]*model.Host{free(1, 2, 8, 120), free(2, 8, 32, 200), free(3, 8, 32, 200), free(4, 8, 32, 200)},
			map[int]model.Role{1: w, 2: m, 3: m, 4: m},
		},
		{"the disk makes no difference", three, []*model.Host{free(1, 8, 32, 90)}, map[int]model.Role{1: m}},
		{
			"hosts with a GPU are left for work", three,
			[]*model.Host{gpu, free(2, 8, 32, 200), free(3, 8, 32, 200), free(4, 8, 32, 200)},
			map[int]model.Role{5: w, 2: m, 3: m, 4: m},
		},
		{
			"masters chosen by the user count", three,
			[]*model.Host{chosen, free(2, 8, 32, 200), free(3, 8, 32, 200), free(4, 8, 32, 200)},
			map[int]model.Role{2: m, 3: m, 4: w},
		},
		{
			"equal hosts are taken by id", three,
			[]*model.Host{free(4, 8, 32, 200), free(3, 8, 32, 200), free(2, 8, 32, 200), free(1, 8, 32, 200)},
			map[int]model.Role{1: m, 2: m, 3: m, 4: w},
		},
		{
			"two masters get an arbiter", &model.Cluster{ControlPlaneCount: 2},
			[]*model.Host{free(1, 8, 32, 200), free(2, 8, 32, 200), free(3, 8, 32, 200), free(4, 8, 32, 200)},
			map[int]model.Role{1: m, 2: m, 3: a, 4: w},
		},
		{
			"a single node is a master when it meets its own requirements", &model.Cluster{ControlPlaneCount: 1},
			[]*model.Host{free(1, 8, 16, 120)},
			map[int]model.Role{1: m},
		},
		{
			"a single node needs eight cores before 4.22", &model.Cluster{ControlPlaneCount: 1},
			[]*model.Host{free(1, 7, 16, 120)},
			map[int]model.Role{1: w},
		},
		{
			"hosts of an existing cluster are workers", &model.Cluster{Kind: model.KindAddHostsCluster, ControlPlaneCount: 3},
			[]*model.Host{dayTwo},
			map[int]model.Role{7: w},
		},
		{"none before all have sent their inventories", three, []*model.Host{free(1), free(2, 8, 32, 200)}, map[int]model.Role{}},
		{
			"what was suggested before stays meanwhile", three,
			[]*model.Host{free(1), suggested(w, free(2, 8, 32, 200))},
			map[int]model.Role{2: w},
		},
		{
			"a suggestion changes only where it has to", three,
			[]*model.Host{suggested(m, free(5, 32, 64, 200)), chosen, suggested(w, free(2, 8, 32, 200)), suggested(w, free(3, 16, 32, 200))},
			map[int]model.Role{2: m, 3: w, 5: m},
		},
		{
			"a small host that comes later is a master", three,
			[]*model.Host{
				suggested(m, free(1, 32, 64, 200)), suggested(m, free(2, 16, 32, 200)), suggested(m, free(3, 16, 32, 200)), free(4, 8, 32, 200),
			},
			map[int]model.Role{1: w, 2: m, 3: m, 4: m},
		},
		{
			"a host that left changes no suggestion", three,
			[]*model.Host{suggested(m, free(1, 32, 64, 200)), suggested(m, free(2, 16, 32, 200)), suggested(m, free(3, 16, 32, 200)), gone},
			map[int]model.Role{1: m, 2: m, 3: m, 4: w},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, suggest(tt.cluster, tt.hosts...))
		})
	}
}
