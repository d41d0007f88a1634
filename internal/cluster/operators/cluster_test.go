package operators_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// fitting changes the fixture so that an operator can be installed.
var fitting = map[string]func(*fixture){
	"nvidia-gpu": func(w *fixture) { w.hosts[3].Inventory.Gpus = []wire.Gpu{{VendorID: "10DE"}} },
	"amd-gpu":    func(w *fixture) { w.hosts[3].Inventory.Gpus = []wire.Gpu{{VendorID: "1002"}} },
}

func TestEveryOperatorCanBeInstalled(t *testing.T) {
	t.Parallel()
	for _, o := range operators.All() {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			if fit := fitting[o.Name]; fit != nil {
				fit(w)
			}
			r := w.choose(with(o.Name)...).ValidateCluster(o)
			require.Equal(t, ok, r.Status, r.Message)
			require.NotContains(t, r.Message, "disabled")
			r = w.choose().ValidateCluster(o)
			require.Equal(
				t,
				operators.Result{Status: ok, Message: o.Title + " is not installed with this cluster: its validation is disabled"},
				r,
			)
			for _, d := range o.Dependencies {
				r = w.choose(o.Name).ValidateCluster(o)
				require.Equal(t, fails, r.Status, "without %s", d)
				require.Contains(t, r.Message, "found it left out")
			}
		})
	}
}

var clusterCases = []struct {
	name     string
	choose   []string // the first is judged
	change   func(*fixture)
	want     model.ValidationStatus
	contains string
}{
	{"an architecture without it", []string{"odf", "lso"}, func(w *fixture) { w.c.CPUArchitecture = "arm64" }, fails, "found arm64"},
	{
		"a version without it",
		[]string{"mtv", "cnv"},
		func(w *fixture) { w.c.OpenShiftVersion = "4.13.5" },
		fails,
		"require OpenShift 4.14 or newer, found 4.13.5",
	},
	{"a platform without it", []string{"cnv"}, func(w *fixture) { w.c.Platform.Type = "vsphere" }, fails, "found vsphere"},
	{
		"a single node where several are needed",
		[]string{"node-healthcheck"},
		(*fixture).single, fails,
		"Node health check and Single node exclude each other: require at most one of them, found both",
	},
	{
		"an operator that excludes it",
		[]string{"lvm", "odf", "lso"},
		nil,
		fails,
		"exclude each other: require at most one of them, found both",
	},
	{"the other of two that exclude each other", []string{"odf", "lvm", "lso"}, nil, fails, "exclude each other"},
	{
		"too few hosts",
		[]string{"odf", "lso"},
		func(w *fixture) { w.hosts = w.hosts[:2] },
		fails,
		"OpenShift Data Foundation: require at least 3 hosts, found 2",
	},
	{
		"hosts that are not known yet",
		[]string{"odf", "lso"},
		func(w *fixture) { silent(w.hosts[4]) }, waits,
		"OpenShift Data Foundation: require the inventories of all hosts, 1 are missing",
	},
	{
		"a number of workers in between",
		[]string{"odf", "lso"},
		func(w *fixture) { w.hosts = w.hosts[:5] }, fails,
		"OpenShift Data Foundation: require no workers or at least 3, found 2",
	},
	{
		"too few disks",
		[]string{"odf", "lso"},
		func(w *fixture) { oneDisk(w.hosts[3]) }, fails,
		"OpenShift Data Foundation: require 3 hosts with a disk of at least 25 GB besides the installation disk, found 2",
	},
	{
		"a control plane that stores",
		[]string{"odf", "lso"},
		(*fixture).compact,
		ok,
		"OpenShift Data Foundation stores on 3 disks of 3 hosts",
	},
	{"an old version with several nodes", []string{"lvm"}, func(w *fixture) {
		w.c.OpenShiftVersion, w.c.UserManagedNetworking, w.c.Platform.Type = "4.14.2", true, "none"
	}, fails, "Logical volume manager storage: require OpenShift 4.15 or newer with more than one node, found 4.14.2"},
	{"an old version with a single node", []string{"lvm"}, func(w *fixture) { w.single(); w.c.OpenShiftVersion = "4.12.9" }, ok, ""},
	{
		"too few workers",
		[]string{"openshift-ai", "lvm"},
		func(w *fixture) { w.hosts = w.hosts[:4] },
		fails,
		"OpenShift AI: require at least 2 workers, found 1",
	},
	{"a single node for models", []string{"openshift-ai", "lvm"}, (*fixture).single, ok, ""},
	{
		"no GPU",
		[]string{"nvidia-gpu", "node-feature-discovery"},
		nil, fails,
		"NVIDIA GPU: require at least one host with a GPU of PCI vendor 10de, found none on the 3 hosts that run work",
	},
	{"a GPU of another maker", []string{"amd-gpu", "kmm", "node-feature-discovery"}, fitting["nvidia-gpu"], fails, "PCI vendor 1002"},
	{
		"hosts that may have a GPU",
		[]string{"nvidia-gpu", "node-feature-discovery"},
		func(w *fixture) { silent(w.hosts[0]) },
		waits,
		"found none yet",
	},
}

func TestClustersOfOperators(t *testing.T) {
	t.Parallel()
	for _, tt := range clusterCases {
		t.Run(tt.choose[0]+" with "+tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			if tt.change != nil {
				tt.change(w)
			}
			r := w.choose(tt.choose...).ValidateCluster(operators.Find(tt.choose[0]))
			require.Equal(t, tt.want, r.Status, r.Message)
			require.Contains(t, r.Message, tt.contains)
		})
	}
}

func TestGPUsAreNotRequiredWhereADeploymentSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld()
	p := w.choose("nvidia-gpu", "amd-gpu", "kmm", "node-feature-discovery")
	p = p.With(operators.Options{})
	require.Equal(t, ok, p.ValidateCluster(operators.Find("nvidia-gpu")).Status)
	require.Equal(t, ok, p.ValidateCluster(operators.Find("amd-gpu")).Status)
}
