package operators_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

type added struct {
	cores int
	ram   int64
}

func TestAdditionsToARole(t *testing.T) {
	t.Parallel()
	threeDisks := func(h *model.Host) {
		h.Inventory.Disks = append(h.Inventory.Disks, newDisk("c", 50e9), newDisk("d", 50e9), newDisk("e", 10e9))
	}
	for _, tt := range []struct {
		name   string
		choose []string
		change func(*fixture)
		master added
		worker added
	}{
		{"none for operators that take nothing", []string{"metallb", "nmstate", "loki"}, nil, added{}, added{}},
		{"cnv", []string{"cnv"}, nil, added{4, 150}, added{2, 360}},
		{"cnv with devices for virtual machines", []string{"cnv"}, func(w *fixture) {
			w.each(func(h *model.Host) {
				h.Inventory.Gpus = []wire.Gpu{{VendorID: "10de", DeviceID: "1db6"}, {VendorID: "10de", DeviceID: "ffff"}}
				h.Inventory.Interfaces = []wire.Interface{{Vendor: "0x8086", Product: "0x158B"}, {Vendor: "0x8086", Product: "0x1521"}}
			})
		}, added{4, 150}, added{2, 360 + 2048}},
		{"cnv with devices in a control plane that takes work", []string{"cnv"}, func(w *fixture) {
			w.compact()
			w.each(func(h *model.Host) { h.Inventory.Gpus = []wire.Gpu{{VendorID: "10DE", DeviceID: "1EB8"}} })
		}, added{4, 150 + 1024}, added{2, 360 + 1024}},
		{"cnv with devices in a single node", []string{"cnv"}, func(w *fixture) {
			w.single()
			w.each(func(h *model.Host) { h.Inventory.Interfaces = []wire.Interface{{Vendor: "0x15b3", Product: "0x101b"}} })
		}, added{6, 510 + 1024}, added{2, 360 + 1024}},
		{"mce", []string{"mce"}, nil, added{4, 16384}, added{4, 16384}},
		{"several together", []string{"mtv", "cnv", "osc"}, nil, added{6, 150 + 2048}, added{4, 360 + 2048}},
		{"odf for workers that store", []string{"odf", "lso"}, nil, added{}, added{10, 24 << 10}},
		{
			"odf for every disk that is large enough",
			[]string{"odf", "lso"},
			func(w *fixture) { w.each(threeDisks) },
			added{},
			added{14, 34 << 10},
		},
		{
			"odf counts one disk where there is none",
			[]string{"odf", "lso"},
			func(w *fixture) { w.each(oneDisk) },
			added{},
			added{10, 24 << 10},
		},
		{"odf for a control plane that stores", []string{"odf", "lso"}, (*fixture).compact, added{8, 24 << 10}, added{10, 24 << 10}},
		{"lvm for workers", []string{"lvm"}, nil, added{}, added{1, 100}},
		{"lvm before 4.16", []string{"lvm"}, func(w *fixture) { w.c.OpenShiftVersion = "4.15.3" }, added{}, added{1, 400}},
		{"lvm before 4.13", []string{"lvm"}, func(w *fixture) { w.c.OpenShiftVersion = "4.12.9" }, added{}, added{1, 1200}},
		{
			"lvm where the control plane takes work",
			[]string{"lvm"},
			func(w *fixture) { w.c.SchedulableMasters = true },
			added{1, 100},
			added{1, 100},
		},
		{"models for workers", []string{"openshift-ai"}, nil, added{}, added{8, 32 << 10}},
		{"cnv on a single node", []string{"cnv"}, (*fixture).single, added{6, 510}, added{2, 360}},
		{"mce on a single node", []string{"mce"}, (*fixture).single, added{8, 32 << 10}, added{4, 16384}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			if tt.change != nil {
				tt.change(w)
			}
			p := w.choose(tt.choose...)
			for role, want := range map[model.Role]added{model.RoleMaster: tt.master, model.RoleWorker: tt.worker} {
				got := p.Added(w.hosts[0], role)
				require.Equal(t, want, added{got.CPUCores, got.RAMMiB}, "%s", role)
			}
			base := model.Requirements{CPUCores: 4, RAMMiB: 16384, DiskSizeGB: 100}
			total := p.Requirements(base, w.hosts[0], model.RoleMaster)
			require.Equal(t, model.Requirements{CPUCores: 4 + tt.master.cores, RAMMiB: 16384 + tt.master.ram, DiskSizeGB: 100}, total)
		})
	}
}

func TestArbitersTakeStorageAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.compact()
	require.Zero(t, w.choose("cnv", "mce", "lvm").Added(w.hosts[0], model.RoleArbiter))
	require.Equal(t, 8, w.choose("odf", "lso").Added(w.hosts[0], model.RoleArbiter).CPUCores)
}

// The requirements of a role must not depend on the hosts suggested for it: the suggestions would never settle.
func TestAdditionsDoNotFollowSuggestedRoles(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		w, hosts := newWorld(), 3+i%4
		w.hosts = w.hosts[:hosts]
		w.c.ControlPlaneCount = 3 - i/4
		var before []model.Requirements
		for _, suggested := range []model.Role{"", model.RoleMaster, model.RoleWorker} {
			w.each(func(h *model.Host) { h.Role, h.SuggestedRole = model.RoleAutoAssign, suggested })
			p := w.choose("odf", "lso", "lvm", "cnv", "mce")
			now := []model.Requirements{p.Added(w.hosts[0], model.RoleMaster), p.Added(w.hosts[0], model.RoleWorker)}
			if before != nil {
				require.Equal(t, before, now, "%d hosts as %s", hosts, suggested)
			}
			before = now
		}
	}
}

func TestPreflightOfEveryOperator(t *testing.T) {
	t.Parallel()
	// The table of docs/reference/operator-rules.md, "Hardware of operators".
	want := map[string][2]added{
		"cnv": {{4, 150}, {2, 360}}, "lvm": {{1, 100}, {1, 100}}, "mce": {{4, 16384}, {4, 16384}}, "mtv": {{1, 1024}, {1, 1024}},
		"odf": {{6, 19456}, {8, 19456}}, "openshift-ai": {{}, {8, 32768}}, "osc": {{1, 1024}, {1, 1024}},
	}
	p := operators.NewPlan(newWorld().c, nil)
	for _, o := range operators.All() {
		master, worker := p.Preflight(o)
		require.Equal(t, want[o.Name], [2]added{{master.CPUCores, master.RAMMiB}, {worker.CPUCores, worker.RAMMiB}}, o.Name)
		require.Equal(t, want[o.Name] != [2]added{} && o.Name != "mce" && o.Name != "openshift-ai", len(worker.Also) > 0, o.Name)
	}
}
