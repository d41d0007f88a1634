package operators_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// verdict is the result of a rule for a host or, without one, for the cluster. Where ours differs from openshift/assisted-service on
// purpose, docs/compatibility.md lists it ("Operators").
type verdict struct {
	name   string
	choose []string // the first is judged
	host   int      // onCluster: the rule of the cluster
	change func(*fixture)
	want   model.ValidationStatus
	says   string
}

const onCluster = -1

func runVerdicts(t *testing.T, verdicts []verdict) {
	t.Helper()
	for _, tt := range verdicts {
		t.Run(tt.choose[0]+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			if tt.change != nil {
				tt.change(w)
			}
			p, o := w.choose(tt.choose...), operators.Find(tt.choose[0])
			var r operators.Result
			if tt.host == onCluster {
				r = p.ValidateCluster(o)
			} else {
				r = p.ValidateHost(o, w.hosts[tt.host])
			}
			require.Equal(t, tt.want, r.Status, r.Message)
			require.Contains(t, r.Message, tt.says)
		})
	}
}

// internal/operators/odf: odf_operator.go, validations.go and common.go.
func TestVerdictsOfStorageOnSeveralNodes(t *testing.T) {
	t.Parallel()
	odf := []string{"odf", "lso"}
	fourWorkers := func(w *fixture) {
		w.hosts = append(w.hosts, newHost(6, model.RoleWorker))
		oneDisk(w.hosts[3])
	}
	undecided := func(hosts int) func(*fixture) {
		return func(w *fixture) {
			w.hosts = w.hosts[:hosts]
			w.each(func(h *model.Host) { h.Role = model.RoleAutoAssign })
		}
	}
	runVerdicts(t, []verdict{
		{"fails on the fourth worker without a data disk", odf, 3, fourWorkers, fails, "found none"},
		{"passes beside a fourth worker without a data disk", odf, onCluster, fourWorkers, ok, "3 disks of 3 hosts"},
		{"waits for a role where there are more than three hosts", odf, 0, undecided(6), waits, "found auto-assign with 6 hosts"},
		{"waits for a role where there are two hosts", odf, 0, undecided(2), waits, "found auto-assign with 2 hosts"},
		{"waits for no role where there are three", odf, 0, undecided(3), ok, "stores on 1 disks"},
		{"fails while more than three hosts have no roles", odf, onCluster, undecided(6), fails, "require a role for every host"},
		{"passes while three hosts have no roles", odf, onCluster, undecided(3), ok, "3 disks of 3 hosts"},
		{"counts disks with several paths, which LSO takes", odf, 3, func(w *fixture) {
			w.hosts[3].Inventory.Disks[1].DriveType = wire.DriveTypeMultipath
		}, ok, "stores on 1 disks"},
		{"counts HDDs", odf, 3, func(w *fixture) { w.hosts[3].Inventory.Disks[1].DriveType = wire.DriveTypeHDD }, ok, ""},
		{"counts no disk of a network", odf, 3, func(w *fixture) {
			w.hosts[3].Inventory.Disks[1].DriveType = wire.DriveTypeFC
		}, fails, "found none"},
		{"counts no disk that can be taken out", odf, 3, func(w *fixture) {
			w.hosts[3].Inventory.Disks[1].Removable = true
		}, fails, "found none"},
		{"counts no disk that the host boots from", odf, 3, func(w *fixture) {
			w.hosts[3].Inventory.Disks[1].IsInstallationMedia = true
		}, fails, "found none"},
		{"counts no disk that something is built on", odf, 3, func(w *fixture) {
			w.hosts[3].Inventory.Disks[1].Holders = "dm-0"
		}, fails, "found none"},
		{"counts no path that a multipath device lost", odf, 3, func(w *fixture) {
			inv := w.hosts[3].Inventory
			lost := inv.Disks[1]
			lost.Wwn, lost.ID, lost.Name, lost.Path = "0x5000c500a1b2c3d4", "lost", "sdx", "/dev/sdx"
			inv.Disks[1].DriveType, inv.Disks[1].Wwn = wire.DriveTypeMultipath, "0x5000c500a1b2c3d4"
			inv.Disks = append(inv.Disks, lost)
		}, ok, "stores on 1 disks"},
		{"compares no CPU and memory with its own need", odf, 3, func(w *fixture) {
			w.hosts[3].Inventory.CPU.Count, w.hosts[3].Inventory.Memory.UsableBytes = 4, 16<<30
		}, ok, ""},
		{"takes workers beside two fenced hosts", odf, onCluster, func(w *fixture) {
			w.c.ControlPlaneCount = 2
			w.hosts = append(w.hosts[:2:2], w.hosts[3:]...)
		}, ok, "3 disks of 3 hosts"},
		{"leaves a host with small disks out where three others store", odf, onCluster, func(w *fixture) {
			w.hosts = append(w.hosts, newHost(6, model.RoleWorker))
			w.hosts[3].Inventory.Disks[1].SizeBytes = 24_999_999_999
		}, ok, "3 disks of 3 hosts"},
		{"fails on that host", odf, 3, func(w *fixture) {
			w.hosts = append(w.hosts, newHost(6, model.RoleWorker))
			w.hosts[3].Inventory.Disks[1].SizeBytes = 24_999_999_999
		}, fails, "at least 25 GB"},
		{"takes the least size", odf, 3, func(w *fixture) { w.hosts[3].Inventory.Disks[1].SizeBytes = 25_000_000_000 }, ok, ""},
	})
}

// A data disk also holds the volumes of multicluster engine: 10, 10 and 50 GB (internal/operators/manager.go and
// internal/operators/mce/mce_operator.go).
func TestVerdictsOfStorageWithMulticlusterEngine(t *testing.T) {
	t.Parallel()
	sized := func(host, size int, more ...func(*fixture)) func(*fixture) {
		return func(w *fixture) {
			w.hosts[host].Inventory.Disks[1].SizeBytes = size
			for _, change := range more {
				change(w)
			}
		}
	}
	odf, lvm := []string{"odf", "lso", "mce"}, []string{"lvm", "mce"}
	runVerdicts(t, []verdict{
		{
			"fails with less room", odf, 3, sized(3, 74_999_999_999), fails,
			"require a disk of at least 75 GB besides the installation disk, largest found has 74 GB",
		},
		{"has room", odf, 3, sized(3, 75_000_000_000), ok, ""},
		{"asks no room of the whole cluster", odf, onCluster, sized(3, 30_000_000_000), ok, ""},
		{"has no room to lose without", []string{"odf", "lso"}, 3, sized(3, 30_000_000_000), ok, ""},
		{
			"fails with less room", lvm, 3, sized(3, 49_999_999_999), fails,
			"require a disk of at least 50 GB besides the installation disk, largest found has 49 GB",
		},
		{"has room", lvm, 3, sized(3, 50_000_000_000), ok, ""},
		{"fails on a single node with less room", lvm, 0, sized(0, 69_999_999_999, (*fixture).single), fails, "at least 70 GB"},
		{"has room on a single node", lvm, 0, sized(0, 70_000_000_000, (*fixture).single), ok, ""},
		{"takes any size without", []string{"lvm"}, 3, sized(3, 1_000_000_000), ok, ""},
	})
}

// internal/operators/lvm/lvm_operator.go and internal/common/common.go: masters take work where there are less than
// two workers.
func TestVerdictsOfStorageOnEachNode(t *testing.T) {
	t.Parallel()
	lvm := []string{"lvm"}
	arbitered := func(workers int) func(*fixture) {
		return func(w *fixture) {
			w.arbitered()
			w.hosts = w.hosts[:3+workers]
			oneDisk(w.hosts[0])
			oneDisk(w.hosts[2])
		}
	}
	runVerdicts(t, []verdict{
		{"needs a disk on masters beside an arbiter and a worker", lvm, 0, arbitered(1), fails, "found none"},
		{"needs no disk on masters beside an arbiter and two workers", lvm, 0, arbitered(2), ok, "takes no work"},
		{"needs no disk on an arbiter", lvm, 2, arbitered(1), ok, "takes no work"},
		{"needs a disk on masters beside one worker", lvm, 0, func(w *fixture) {
			w.hosts = w.hosts[:4]
			oneDisk(w.hosts[0])
		}, fails, "found none"},
		{"needs a disk on masters that take work on request", lvm, 0, func(w *fixture) {
			w.c.SchedulableMasters = true
			oneDisk(w.hosts[0])
		}, fails, "found none"},
		{"needs no disk on a host that is to be a master", lvm, 0, func(w *fixture) {
			w.hosts[0].Role, w.hosts[0].SuggestedRole = model.RoleAutoAssign, model.RoleMaster
			oneDisk(w.hosts[0])
		}, ok, "takes no work"},
		{"needs a disk on a host that is to be a worker", lvm, 3, func(w *fixture) {
			w.hosts[3].Role, w.hosts[3].SuggestedRole = model.RoleAutoAssign, model.RoleWorker
			oneDisk(w.hosts[3])
		}, fails, "found none"},
		{"judges a host as a worker before roles are suggested", lvm, 0, func(w *fixture) {
			w.hosts[0].Role = model.RoleAutoAssign
		}, ok, "meets"},
		{"needs a disk on a host before roles are suggested", lvm, 0, func(w *fixture) {
			w.hosts[0].Role = model.RoleAutoAssign
			oneDisk(w.hosts[0])
		}, fails, "found none"},
		{"counts disks with several paths, which LVMS takes", lvm, 3, func(w *fixture) {
			w.hosts[3].Inventory.Disks[1].DriveType = wire.DriveTypeMultipath
		}, ok, ""},
		{"compares no CPU and memory with its own need", lvm, 3, func(w *fixture) {
			w.hosts[3].Inventory.CPU.Count, w.hosts[3].Inventory.Memory.UsableBytes = 1, 50<<20
		}, ok, ""},
	})
}

// Five operators compare the memory a host can use with what they add, to the byte (ValidateHost in
// internal/operators/cnv, mce, mtv, osc and openshiftai).
func TestVerdictsOfUsableMemory(t *testing.T) {
	t.Parallel()
	for operator, mebibytes := range map[string]int{"cnv": 360, "mce": 16384, "mtv": 1024, "osc": 1024, "openshift-ai": 32768} {
		usable := func(bytes int) func(*fixture) {
			return func(w *fixture) { w.hosts[3].Inventory.Memory.UsableBytes = bytes }
		}
		runVerdicts(t, []verdict{
			{"needs every byte", []string{operator}, 3, usable(mebibytes<<20 - 1), fails, "MiB of usable memory for it alone, found"},
			{"needs no more", []string{operator}, 3, usable(mebibytes << 20), ok, ""},
		})
	}
	for operator, cores := range map[string]int{"cnv": 2, "mce": 4, "openshift-ai": 8} {
		has := func(cores int) func(*fixture) { return func(w *fixture) { w.hosts[3].Inventory.CPU.Count = cores } }
		runVerdicts(t, []verdict{
			{"needs every core", []string{operator}, 3, has(cores - 1), fails, "CPU cores for it alone, found"},
			{"needs no other core", []string{operator}, 3, has(cores), ok, ""},
		})
	}
}

// A host without a role is judged by the suggested one, and as a worker before there is one.
func TestVerdictsOfVirtualizationFollowSuggestedRoles(t *testing.T) {
	t.Parallel()
	suggested := func(role model.Role) func(*fixture) {
		return func(w *fixture) {
			w.hosts[0].Role, w.hosts[0].SuggestedRole = model.RoleAutoAssign, role
			w.hosts[0].Inventory.CPU.Count = 3
		}
	}
	cnv := []string{"cnv"}
	runVerdicts(t, []verdict{
		{"needs four cores of a master", cnv, 0, suggested(model.RoleMaster), fails, "require 4 CPU cores"},
		{"needs two cores of a worker", cnv, 0, suggested(model.RoleWorker), ok, ""},
		{"needs two cores before roles are suggested", cnv, 0, suggested(""), ok, ""},
	})
}

// internal/operators/nvidiagpu and internal/operators/amdgpu: only hosts that may run the driver count.
func TestVerdictsOfGPUs(t *testing.T) {
	t.Parallel()
	for operator, vendor := range map[string]string{"nvidia-gpu": "10de", "amd-gpu": "1002"} {
		in := func(host int, more ...func(*fixture)) func(*fixture) {
			return func(w *fixture) {
				w.hosts[host].Inventory.Gpus = []wire.Gpu{{VendorID: vendor}}
				for _, change := range more {
					change(w)
				}
			}
		}
		undecided := func(w *fixture) { w.hosts[0].Role = model.RoleAutoAssign }
		secure := func(w *fixture) { w.hosts[3].Inventory.Boot.SecureBootState = wire.SecureBootStateEnabled }
		all := with(operator)
		runVerdicts(t, []verdict{
			{"runs in a worker", all, onCluster, in(3), ok, ""},
			{"does not run in a master", all, onCluster, in(0), fails, "found none on the 3 hosts that run work"},
			{"runs in a master that takes work", all, onCluster, in(0, func(w *fixture) { w.c.SchedulableMasters = true }), ok, ""},
			{"runs in a master without workers", all, onCluster, in(0, (*fixture).compact), ok, ""},
			{"runs in a single node", all, onCluster, in(0, (*fixture).single), ok, ""},
			{"does not run in an arbiter", all, onCluster, in(2, (*fixture).arbitered), fails, "found none"},
			{"may run in a host without a role", all, onCluster, in(0, undecided), ok, ""},
			{"may be in a host that is silent", all, onCluster, func(w *fixture) { silent(w.hosts[4]) }, waits, "found none yet"},
			{"may be in hosts to come", all, onCluster, func(w *fixture) { w.hosts = nil }, waits, "found none yet"},
			{"needs secure boot off beside it", all, 3, in(3, secure), fails, "require secure boot to be disabled on hosts with such a GPU"},
			{"minds no secure boot of other hosts", all, 3, in(4, secure), ok, ""},
		})
	}
	runVerdicts(t, []verdict{
		{"needs secure boot off everywhere", []string{"kmm"}, 0, func(w *fixture) {
			w.hosts[0].Inventory.Boot.SecureBootState = wire.SecureBootStateEnabled
		}, fails, "require secure boot to be disabled on all hosts"},
		{"does not know secure boot", []string{"kmm"}, 0, func(w *fixture) {
			w.hosts[0].Inventory.Boot.SecureBootState = wire.SecureBootStateUnknown
		}, ok, ""},
		{"waits for the inventory", []string{"kmm"}, 0, func(w *fixture) { silent(w.hosts[0]) }, waits, ""},
	})
}

// internal/operators/openshiftai: storage is the user's choice.
func TestVerdictsOfModels(t *testing.T) {
	t.Parallel()
	ai := []string{"openshift-ai"}
	runVerdicts(t, []verdict{
		{"takes storage of the user", ai, onCluster, nil, ok, ""},
		{"takes storage of the user on a single node", ai, onCluster, (*fixture).single, ok, ""},
		{"needs two workers", ai, onCluster, func(w *fixture) { w.hosts = w.hosts[:4] }, fails, "at least 2 workers, found 1"},
		{"takes two workers", ai, onCluster, func(w *fixture) { w.hosts = w.hosts[:5] }, ok, ""},
		{"asks nothing of masters", ai, 0, func(w *fixture) {
			w.hosts[0].Inventory.CPU.Count, w.hosts[0].Inventory.Memory.UsableBytes = 4, 16<<30
		}, ok, ""},
	})
	for _, tt := range []struct {
		choose []string
		says   string
	}{
		{ai, "choose nvidia-gpu or amd-gpu with it, found neither"},
		{[]string{"openshift-ai", "nvidia-gpu"}, "can use the GPUs"},
		{[]string{"openshift-ai", "amd-gpu"}, "can use the GPUs"},
	} {
		w := newWorld()
		w.each(silent)
		r, relevant := w.choose(tt.choose...).ValidateAIGPU()
		require.True(t, relevant)
		require.Equal(t, ok, r.Status, "it only advises")
		require.Contains(t, r.Message, tt.says)
	}
}

// internal/operators/loki/loki_operator.go and internal/operators/openshiftlogging.
func TestVerdictsOfLogs(t *testing.T) {
	t.Parallel()
	for _, operator := range []string{"loki", "openshift-logging"} {
		runVerdicts(t, []verdict{
			{"came with 4.17", with(operator), onCluster, at("4.16.30"), fails, "require OpenShift 4.17 or newer, found 4.16.30"},
			{"is in 4.17", with(operator), onCluster, at("4.17.0"), ok, ""},
		})
	}
	_, err := operators.Resolve(named("cluster-observability"), nil, newWorld().version("4.16.30").c)
	require.ErrorIs(t, err, model.ErrInvalid, "it brings both")
	require.ErrorContains(t, err, "4.17")
}
