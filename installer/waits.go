package installer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/wire"
)

const (
	bootkubeDone      = "/opt/openshift/.bootkube.done"
	progressUnit      = "progress.service"
	controllerSpace   = "assisted-installer"
	controllerIsReady = "AssistedControllerIsReady"
)

// WaitBootkube waits until the bootstrap services have handed over the control plane: bootkube wrote its mark. On a
// single node bootkube also made the Ignition of the node; with more masters progress.service then records in the
// cluster that the bootstrap is complete. Masters that are not waited for may fetch their configuration meanwhile.
// It ends with ctx, or when a unit of the bootstrap failed.
//
//	systemctl show --property=Id,ActiveState,Result UNIT...   every 5 s: units that carry the control plane; not on a single node, after
//	                                            .bootkube.done: progress.service until it is inactive
//	[journalctl --no-pager --output=cat --lines=20 --unit=UNIT]   of a unit that failed: the wait ends
func (i *Installer) WaitBootkube(ctx context.Context, req *wire.InstallCmdRequest) error {
	if err := i.checkAttempt(req); err != nil {
		return err
	}
	others, units := i.watchOthers(req), i.watchUnits(controlPlaneUnits...)
	for !i.exists(bootkubeDone) {
		if err := units.check(ctx); err != nil {
			return fmt.Errorf("wait for bootkube: %w", err)
		}
		others.fetched(ctx)
		if err := i.Sleep(ctx, pollPause); err != nil {
			return fmt.Errorf("wait for bootkube: %w", err)
		}
	}
	if singleNode(req) {
		// progress.service asks an API that has gone by then, and never ends.
		return i.checkOwnIgnition()
	}
	units = i.watchUnits(progressUnit)
	for !i.unitIs(ctx, progressUnit, unitInactive) {
		if err := units.check(ctx); err != nil {
			return fmt.Errorf("wait for the end of the bootstrap: %w", err)
		}
		others.fetched(ctx)
		if err := i.Sleep(ctx, pollPause); err != nil {
			return fmt.Errorf("wait for the end of the bootstrap: %w", err)
		}
	}
	return nil
}

// checkOwnIgnition returns an error unless the bootstrap services of a single node made an Ignition config: they
// fetch a part of it by a command that leaves an empty file when the server refuses.
func (i *Installer) checkOwnIgnition() error {
	content, err := os.ReadFile(i.Root.Path(masterIgnition))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("bootkube has not written %s", masterIgnition)
	case err != nil:
		return fmt.Errorf("read the Ignition of the bootstrap services: %w", err)
	case len(content) == 0:
		return fmt.Errorf("%s is empty: an Ignition config is required", masterIgnition)
	}
	if err := document.Check(content); err != nil {
		return fmt.Errorf("check %s: %w", masterIgnition, err)
	}
	return nil
}

// configLimit is how long the machine configs of nodes are waited for once the controller runs: a node that has to boot
// for its config may need the votes of the node that this host becomes.
const configLimit = 20 * time.Minute

// WaitController waits until nothing needs the bootstrap host any more: the controller runs in the new cluster,
// and the ready nodes of the control plane have the machine config they should have, the same one, which the cluster has, too. A node
// whose config exists on the bootstrap host only would never be updated again. Configs are waited for twenty minutes at most. It ends
// with ctx only.
func (i *Installer) WaitController(ctx context.Context, req *wire.InstallCmdRequest) error {
	others := i.watchOthers(req)
	var left time.Duration // of configLimit, once the controller runs
	announced := false
	for {
		var err error
		others.during(ctx, func() {
			if !announced {
				announced, err = i.controllerReady(ctx)
				left = configLimit
			}
			if announced {
				err = i.nodesConfigured(ctx, others)
			}
		})
		switch {
		case announced && err == nil:
			return nil
		case ctx.Err() == nil && announced && left <= 0:
			i.Log.Warn("bootstrap host leaves before all nodes have their machine config", "reason", err)
			return nil
		case ctx.Err() == nil:
			i.Log.Debug("bootstrap host still needed", "reason", err)
		}
		if err := i.Sleep(ctx, pollPause); err != nil {
			return fmt.Errorf("wait for the controller: %w", err)
		}
		left -= pollPause
	}
}

func (i *Installer) controllerReady(ctx context.Context) (bool, error) {
	kube, err := i.openKube()
	if err != nil {
		return false, err
	}
	return kube.EventExists(ctx, controllerSpace, controllerIsReady)
}

// nodesConfigured returns which node has no machine config yet.
func (i *Installer) nodesConfigured(ctx context.Context, o *others) error {
	kube, err := i.openKube()
	if err != nil {
		return err
	}
	nodes, err := kube.Masters(ctx)
	if err != nil {
		return err
	}
	if err := configured(nodes, i.nodesNeeded(ctx, o)); err != nil {
		return err
	}
	return rendered(ctx, kube, nodes)
}

// rendered returns which config of ready nodes the cluster does not have, or which nodes of a pool desire different ones: nodes report
// the config that the bootstrap host gave them as done before the cluster has rendered any (openshift/machine-config-operator, issues
// 199 and 367).
func rendered(ctx context.Context, kube Kube, nodes []Node) error {
	first := map[string]Node{} // of each pool
	for _, node := range nodes {
		if !node.Ready {
			continue
		}
		pool, desired := node.MachineConfig.Pool(), node.MachineConfig.Desired
		other, seen := first[pool]
		if seen && other.MachineConfig.Desired != desired {
			return fmt.Errorf("require one machine config for nodes %s and %s, found %q and %q",
				other.Name, node.Name, other.MachineConfig.Desired, desired)
		}
		if seen {
			continue
		}
		first[pool] = node
		found, err := kube.MachineConfigExists(ctx, desired)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("machine config %s of node %s does not exist in the cluster", desired, node.Name)
		}
	}
	return nil
}

// configured returns which ready nodes do not have their machine config yet, or that there are too few.
func configured(nodes []Node, need int) error {
	found := 0
	for _, node := range nodes {
		if !node.Ready {
			continue
		}
		if !node.MachineConfig.Consistent() {
			return fmt.Errorf("require node %s to have its machine config, found %s", node.Name, node.MachineConfig)
		}
		found++
	}
	if found < need {
		return fmt.Errorf("require %d ready nodes of the control plane with their machine config, found %d", need, found)
	}
	return nil
}
