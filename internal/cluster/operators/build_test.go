package operators_test

import (
	"fmt"

	"github.com/google/uuid"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

const (
	ok    = model.ValidationSuccess
	fails = model.ValidationFailure
	waits = model.ValidationPending
)

// fixture is a cluster with its hosts; most operators can be installed with it.
type fixture struct {
	c     *model.Cluster
	hosts []*model.Host
}

// newWorld has three control plane hosts and three workers, each large, with one disk
// to install to and one besides.
func newWorld() *fixture {
	w := &fixture{c: &model.Cluster{
		Kind: model.KindCluster, OpenShiftVersion: "4.22.0", CPUArchitecture: "x86_64", ControlPlaneCount: 3,
		Platform: model.Platform{Type: "baremetal"}, NetworkType: "OVNKubernetes",
	}}
	for i := range 6 {
		role := model.RoleMaster
		if i >= 3 {
			role = model.RoleWorker
		}
		w.hosts = append(w.hosts, newHost(i, role))
	}
	return w
}

func newHost(i int, role model.Role) *model.Host {
	return &model.Host{
		ID: uuid.New(), Kind: model.KindHost, Role: role, InstallationDiskID: "wwn-a", InstallationDiskPath: "/dev/sda",
		Inventory: &wire.Inventory{
			Hostname: fmt.Sprintf("node-%d", i), CPU: wire.CPU{Architecture: "x86_64", Count: 32, Flags: []string{"vmx"}},
			Memory: wire.Memory{PhysicalBytes: 128 << 30, UsableBytes: 126 << 30},
			Disks:  []wire.Disk{newDisk("a", 200e9), newDisk("b", 100e9)},
		},
	}
}

func newDisk(name string, size int) wire.Disk {
	return wire.Disk{ID: "wwn-" + name, Name: "sd" + name, Path: "/dev/sd" + name, DriveType: wire.DriveTypeSSD, SizeBytes: size}
}

// choose installs operators with the cluster, without the operators they bring.
func (w *fixture) choose(names ...string) *operators.Plan {
	w.c.OLMOperators = nil
	for _, name := range names {
		w.c.OLMOperators = append(w.c.OLMOperators, model.OLMOperator{Name: name})
	}
	return operators.NewPlan(w.c, w.hosts)
}

// with lists an operator and all it brings.
func with(name string) []string {
	names := []string{name}
	for _, d := range operators.Find(name).Dependencies {
		names = append(names, with(d)...)
	}
	return names
}

func (w *fixture) compact() {
	w.hosts = w.hosts[:3]
}

func (w *fixture) single() {
	w.hosts = w.hosts[:1]
	w.c.ControlPlaneCount, w.c.UserManagedNetworking, w.c.Platform.Type = 1, true, "none"
}

// each changes every host.
func (w *fixture) each(change func(*model.Host)) {
	for _, h := range w.hosts {
		change(h)
	}
}

func oneDisk(h *model.Host) { h.Inventory.Disks = h.Inventory.Disks[:1] }

func silent(h *model.Host) { h.Inventory = nil }
