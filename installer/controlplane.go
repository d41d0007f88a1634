package installer

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"slipway/internal/wire"
)

const (
	// kubeConfig is made by the bootstrap services' Ignition.
	kubeConfig = "/opt/openshift/auth/kubeconfig"
	// pollPause is between two looks at the new control plane.
	pollPause = 5 * time.Second
	// enoughMasters carry the control plane while the bootstrap host is away.
	enoughMasters = 2
)

// ControlPlaneReport is the output of the step control-plane-wait.
type ControlPlaneReport struct {
	Ready []string `json:"ready"` // node names
}

// nodesNeeded returns how many other nodes of the control plane, arbiters included, must be ready before the bootstrap host may leave:
// all others, two at most. How many arbiters there are only the service knows; until it answers there might be one.
func (i *Installer) nodesNeeded(ctx context.Context, o *others) int {
	masters := o.req.ControlPlaneCount - 1
	if masters >= enoughMasters {
		return enoughMasters
	}
	arbiters, known := o.arbiters(ctx)
	if !known {
		return enoughMasters
	}
	return min(masters+arbiters, enoughMasters)
}

// WaitControlPlane waits on the bootstrap host until enough other nodes of the control plane are ready, and reports
// for the other hosts what only this one sees: that they fetched their configuration, and that they joined. It ends
// with ctx, or when a unit of the bootstrap failed.
//
//	systemctl show --property=Id,ActiveState,Result UNIT...   every 5 s: units that carry the control plane
//	[journalctl --no-pager --output=cat --lines=20 --unit=UNIT]   of a unit that failed: the wait ends
func (i *Installer) WaitControlPlane(ctx context.Context, req *wire.InstallCmdRequest) (ControlPlaneReport, error) {
	others, units := i.watchOthers(req), i.watchUnits(controlPlaneUnits...)
	for {
		var nodes []Node
		var err error
		others.during(ctx, func() { nodes, err = i.masters(ctx, others) })
		if err != nil && ctx.Err() == nil {
			i.Log.Debug("control plane not reached", "error", err)
		}
		report := ControlPlaneReport{Ready: []string{}}
		for _, node := range nodes {
			if node.Ready {
				report.Ready = append(report.Ready, node.Name)
				others.joined(ctx, node)
			}
		}
		slices.Sort(report.Ready)
		need := i.nodesNeeded(ctx, others)
		if err == nil && len(report.Ready) >= need {
			return report, nil
		}
		if err := units.check(ctx); err != nil {
			return report, fmt.Errorf("wait for the control plane: %w", err)
		}
		if err := i.Sleep(ctx, pollPause); err != nil {
			return report, fmt.Errorf("wait for %d ready nodes of the control plane, found %d: %w", need, len(report.Ready), err)
		}
	}
}

// masters lists the nodes of the control plane, and initializes the nodes that no cloud will.
func (i *Installer) masters(ctx context.Context, o *others) ([]Node, error) {
	kube, err := i.openKube()
	if err != nil {
		return nil, err
	}
	nodes, err := kube.Masters(ctx)
	for _, node := range nodes {
		if !node.Uninitialized || !o.withoutCloud(ctx) {
			continue
		}
		if err := kube.Initialize(ctx, node.Name); err != nil && ctx.Err() == nil {
			i.Log.Warn("node not initialized", "node", node.Name, "error", err)
		}
	}
	return nodes, err
}

// openKube reads the kubeconfig anew each time: the bootstrap services may write it
// again while they come up.
func (i *Installer) openKube() (Kube, error) {
	config, err := os.ReadFile(i.Root.Path(kubeConfig))
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	return i.Kube(config)
}
