package operators_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// lookAtHosts are the operators that wait for inventories; the others are content with any host (recorded answers of
// assisted-service, test/twin).
var lookAtHosts = []string{
	"amd-gpu", "cnv", "kmm", "lvm", "mce", "mtv", "nvidia-gpu", "odf", "openshift-ai", "osc",
}

func TestEveryOperatorRunsOnALargeHost(t *testing.T) {
	t.Parallel()
	for _, o := range operators.All() {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			p := w.choose(with(o.Name)...)
			for _, h := range w.hosts {
				r := p.ValidateHost(o, h)
				require.Equal(t, ok, r.Status, r.Message)
				require.NotContains(t, r.Message, "disabled")
			}
			w.each(silent)
			r := w.choose(with(o.Name)...).ValidateHost(o, w.hosts[0])
			want := operators.Result{Status: ok, Message: o.Title + " requires nothing of this host"}
			if slices.Contains(lookAtHosts, o.Name) {
				want = operators.Result{Status: waits, Message: o.Title + ": the host has not sent its inventory yet"}
			}
			require.Equal(t, want, r)
			r = w.choose().ValidateHost(o, w.hosts[0])
			require.Equal(
				t,
				operators.Result{Status: ok, Message: o.Title + " is not installed with this cluster: its validation is disabled"},
				r,
			)
		})
	}
}

var hostCases = []struct {
	name, operator string
	host           int
	change         func(*fixture)
	want           model.ValidationStatus
	says           string
}{
	{
		"needs a CPU that virtualizes", "cnv", 0, func(w *fixture) { w.hosts[0].Inventory.CPU.Flags = []string{"sse"} }, fails,
		"OpenShift Virtualization: require a CPU with the flag vmx or svm, found neither; enable virtualization in the firmware",
	},
	{"takes the flag of AMD", "cnv", 0, func(w *fixture) { w.hosts[0].Inventory.CPU.Flags = []string{"svm"} }, ok, ""},
	{
		"needs a second disk on an old single node", "cnv", 0,
		func(w *fixture) { w.single(); w.version("4.11.9"); w.each(oneDisk) }, fails,
		"OpenShift Virtualization: require a disk of more than 50 GiB besides the installation disk, largest found has 0 GiB",
	},
	{"needs a second disk of more than 50 GiB", "cnv", 0, func(w *fixture) {
		w.single()
		w.version("4.10.0")
		w.hosts[0].Inventory.Disks[1].SizeBytes = 53687091200
	}, fails, "largest found has 50 GiB"},
	{"finds its second disk on an old single node", "cnv", 0, func(w *fixture) {
		w.single()
		w.version("4.11.9")
		w.hosts[0].Inventory.Disks[1].SizeBytes = 53687091201
	}, ok, ""},
	{"needs one disk on a single node from 4.12", "cnv", 0, func(w *fixture) { w.single(); w.version("4.12.0"); w.each(oneDisk) }, ok, ""},
	{"needs one disk on a single node", "cnv", 0, func(w *fixture) { w.single(); w.each(oneDisk) }, ok, ""},
	{"needs one disk on several old nodes", "cnv", 0, func(w *fixture) { w.version("4.11.9"); w.each(oneDisk) }, ok, ""},
	{
		"needs cores of its own", "cnv", 0, func(w *fixture) { w.hosts[0].Inventory.CPU.Count = 3 }, fails,
		"OpenShift Virtualization: require 4 CPU cores for it alone, found 3",
	},
	{
		"needs memory of its own", "mce", 0, func(w *fixture) { w.hosts[0].Inventory.Memory.UsableBytes = 8 << 30 }, fails,
		"Multicluster engine: require 16384 MiB of usable memory for it alone, found 8192 MiB",
	},
	{
		"runs on one architecture only", "osc", 3, func(w *fixture) {
			w.c.CPUArchitecture = "multi"
			w.hosts[3].Inventory.CPU.Architecture = "aarch64"
		}, fails,
		"Sandboxed containers: require a host of another CPU architecture, found aarch64",
	},
	{
		"needs a disk besides the one installed to", "lvm", 3, func(w *fixture) { w.each(oneDisk) }, fails,
		"Logical volume manager storage: require at least one disk besides the installation disk, found none",
	},
	{
		"leaves the control plane out where workers are", "lvm", 0, func(w *fixture) { w.each(oneDisk) }, ok,
		"Logical volume manager storage does not run on this host: it takes no work of users",
	},
	{"needs a disk on a single node", "lvm", 0, func(w *fixture) { w.single(); w.each(oneDisk) }, fails, "found none"},
	{
		"needs a disk on a control plane that takes work",
		"lvm",
		0,
		func(w *fixture) { w.c.SchedulableMasters = true; w.each(oneDisk) },
		fails,
		"found none",
	},
	{
		"needs a disk on storage hosts", "odf", 3, func(w *fixture) { oneDisk(w.hosts[3]) }, fails,
		"OpenShift Data Foundation: require at least one SSD, HDD or multipath disk besides the installation disk, found none",
	},
	{
		"needs a disk of a size", "odf", 3, func(w *fixture) { w.hosts[3].Inventory.Disks[1].SizeBytes = 20e9 }, fails,
		"OpenShift Data Foundation: require a disk of at least 25 GB besides the installation disk, largest found has 20 GB",
	},
	{
		"counts what is on network drives out",
		"odf",
		3,
		func(w *fixture) { w.hosts[3].Inventory.Disks[1].DriveType = wire.DriveTypeISCSI },
		fails,
		"found none",
	},
	{
		"leaves the control plane alone where workers are", "odf", 0, func(w *fixture) { oneDisk(w.hosts[0]) }, ok,
		"OpenShift Data Foundation does not run on this host: the workers hold the storage",
	},
	{
		"stores on the control plane without workers",
		"odf",
		0,
		(*fixture).compact,
		ok,
		"OpenShift Data Foundation stores on 1 disks of this host",
	},
	{
		"needs a disk on the control plane without workers",
		"odf",
		0,
		func(w *fixture) { w.compact(); oneDisk(w.hosts[0]) },
		fails,
		"found none",
	},
	{
		"stores on an arbiter without workers",
		"odf",
		2,
		func(w *fixture) { w.compact(); w.hosts[2].Role = model.RoleArbiter },
		ok,
		"stores on 1 disks",
	},
	{"leaves the disks of two masters beside an arbiter to the cluster", "odf", 0, func(w *fixture) {
		w.compact()
		w.hosts[2].Role = model.RoleArbiter
		w.each(oneDisk)
	}, ok, "counted for the cluster"},
	{"finds roles itself with three hosts", "odf", 0, func(w *fixture) {
		w.compact()
		w.each(func(h *model.Host) { h.Role, h.SuggestedRole = model.RoleAutoAssign, model.RoleMaster })
	}, ok, ""},
	{"needs secure boot to be off beside its GPU", "nvidia-gpu", 3, func(w *fixture) {
		w.hosts[3].Inventory.Gpus = []wire.Gpu{{VendorID: "10de"}}
		w.hosts[3].Inventory.Boot.SecureBootState = wire.SecureBootStateEnabled
	}, fails, "NVIDIA GPU: require secure boot to be disabled on hosts with such a GPU, found it enabled"},
	{"minds no secure boot without a GPU", "nvidia-gpu", 3, func(w *fixture) {
		w.hosts[3].Inventory.Boot.SecureBootState = wire.SecureBootStateEnabled
	}, ok, ""},
}

func TestHostsOfOperators(t *testing.T) {
	t.Parallel()
	for _, tt := range hostCases {
		t.Run(tt.operator+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			tt.change(w)
			r := w.choose(with(tt.operator)...).ValidateHost(operators.Find(tt.operator), w.hosts[tt.host])
			require.Equal(t, tt.want, r.Status, r.Message)
			require.Contains(t, r.Message, tt.says)
		})
	}
}

func TestHostsThatJoinARunningClusterAreNotAsked(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.c.Kind = model.KindAddHostsCluster
	w.each(oneDisk)
	p := w.choose("odf", "lso")
	require.Equal(t, ok, p.ValidateHost(operators.Find("odf"), w.hosts[3]).Status)
	require.Zero(t, p.Added(w.hosts[3], model.RoleWorker))
}
