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

// mastersNeeded is how many other control plane nodes must be ready before the bootstrap host may leave: all
// others, two at most.
func mastersNeeded(req *wire.InstallCmdRequest) int {
	return min(req.ControlPlaneCount-1, enoughMasters)
}

// WaitControlPlane waits on the bootstrap host until enough other masters are ready nodes, and reports for the
// other hosts what only this one sees: that they fetched their configuration, and that they joined. It ends
// with ctx only.
func (i *Installer) WaitControlPlane(ctx context.Context, req *wire.InstallCmdRequest) (ControlPlaneReport, error) {
	others := i.watchOthers(req)
	for {
		var nodes []Node
		var err error
		others.during(ctx, func() { nodes, err = i.masters(ctx) })
		if err != nil && ctx.Err() == nil {
			i.Log.Debug("control plane not reached", "error", err)
		}
		ready := []string{}
		for _, node := range nodes {
			if node.Ready {
				ready = append(ready, node.Name)
				others.joined(ctx, node)
			}
		}
		if err == nil && len(ready) >= mastersNeeded(req) {
			slices.Sort(ready)
			return ControlPlaneReport{Ready: ready}, nil
		}
		if err := i.Sleep(ctx, pollPause); err != nil {
			return ControlPlaneReport{
				Ready: ready,
			}, fmt.Errorf(
				"wait for %d ready masters, found %d: %w",
				mastersNeeded(req),
				len(ready),
				err,
			)
		}
	}
}

func (i *Installer) masters(ctx context.Context) ([]Node, error) {
	kube, err := i.openKube()
	if err != nil {
		return nil, err
	}
	return kube.Masters(ctx)
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
