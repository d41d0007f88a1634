package installer

import (
	"context"
	"fmt"
	"strings"

	"slipway/internal/wire"
)

const (
	bootkubeDone      = "/opt/openshift/.bootkube.done"
	etcdProgressUnit  = "progress.service"
	controllerSpace   = "assisted-installer"
	controllerIsReady = "AssistedControllerIsReady"
)

// WaitBootkube waits until the bootstrap services have handed over the control plane: bootkube wrote its mark,
// and the unit that follows etcd has ended. Masters that are not waited for may fetch their configuration
// meanwhile. It ends with ctx only.
func (i *Installer) WaitBootkube(ctx context.Context, req *wire.InstallCmdRequest) error {
	others := i.watchOthers(req)
	for !i.exists(bootkubeDone) {
		others.fetched(ctx)
		if err := i.Sleep(ctx, pollPause); err != nil {
			return fmt.Errorf("wait for bootkube: %w", err)
		}
	}
	for {
		// is-active ends with a code other than zero for everything but active.
		state, _ := i.output(ctx, "systemctl", "is-active", etcdProgressUnit)
		if strings.TrimSpace(state) == "inactive" {
			return nil
		}
		others.fetched(ctx)
		if err := i.Sleep(ctx, pollPause); err != nil {
			return fmt.Errorf("wait for etcd to leave the bootstrap host: %w", err)
		}
	}
}

// WaitController waits until the controller runs in the new cluster: from there on nothing needs the bootstrap
// host. It ends with ctx only.
func (i *Installer) WaitController(ctx context.Context, req *wire.InstallCmdRequest) error {
	others := i.watchOthers(req)
	for {
		var ready bool
		var err error
		others.during(ctx, func() { ready, err = i.controllerReady(ctx) })
		if ready {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			i.Log.Debug("controller not seen", "error", err)
		}
		if err := i.Sleep(ctx, pollPause); err != nil {
			return fmt.Errorf("wait for the controller: %w", err)
		}
	}
}

func (i *Installer) controllerReady(ctx context.Context) (bool, error) {
	kube, err := i.openKube()
	if err != nil {
		return false, err
	}
	return kube.EventExists(ctx, controllerSpace, controllerIsReady)
}
