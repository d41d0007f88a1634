// Package bootkube is what the bootstrap host of a bench cluster does: it gives the new
// API its objects, waits for masters to carry the cluster, and hands it over.
package bootkube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"slipway/test/bench/payload/configs"
	"slipway/test/bench/payload/etcd"
	"slipway/test/bench/payload/kube"
	"slipway/test/bench/payload/plan"
	"slipway/test/bench/payload/programs"
)

// pause is between two looks.
const pause = 5 * time.Second

// Bootkube is the work of the bootstrap host.
type Bootkube struct {
	Host *programs.Host
	Etcd etcd.Ctl
	// OpenShift is the folder of the manifests, Definitions that of the definitions of kinds.
	OpenShift, Definitions string
	// Stop stops units of this host.
	Stop  func(ctx context.Context, units ...string) error
	Log   *slog.Logger
	Sleep func(context.Context, time.Duration) error
}

// Run does all of it; it returns at once when it was done before.
func (b *Bootkube) Run(ctx context.Context) error {
	done := filepath.Join(b.OpenShift, ".bootkube.done")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if err := b.work(ctx); err != nil {
		return err
	}
	b.Log.Info("control plane handed over")
	return os.WriteFile(done, nil, 0o600)
}

func (b *Bootkube) work(ctx context.Context) error {
	if !b.Host.Plan.InPlace && b.left(ctx) { // cut off after the point of no return
		return b.stepDown(ctx)
	}
	if err := b.until(ctx, "the API answers", func() error { return kube.Answers(ctx, b.local(), "/readyz") }); err != nil {
		return err
	}
	if err := b.applyAll(ctx); err != nil {
		return err
	}
	if b.Host.Plan.InPlace {
		return b.inPlace(ctx)
	}
	return b.handOver(ctx)
}

func (b *Bootkube) applyAll(ctx context.Context) error {
	objects, err := kube.Folder(b.Definitions, filepath.Join(b.OpenShift, "manifests"), filepath.Join(b.OpenShift, "openshift"))
	if err != nil {
		return err
	}
	objects = append(objects, ownObjects()...)
	b.Log.Info("applying objects", "count", len(objects))
	applier := kube.Applier{Config: b.local(), Log: b.Log, Sleep: b.Sleep}
	if err := applier.Apply(ctx, objects); err != nil {
		return err
	}
	b.Log.Info("objects applied")
	return nil
}

// local is the API server of this host.
func (b *Bootkube) local() *rest.Config { return kube.Config("https://localhost:6443", b.Host.Keys) }

// handOver leaves the cluster to its masters: enough of them to do without this host.
func (b *Bootkube) handOver(ctx context.Context) error {
	var masters []Master
	err := b.until(ctx, "masters carry the cluster", func() error {
		client, err := kubernetes.NewForConfig(b.local())
		if err != nil {
			return err
		}
		masters, err = b.carrying(ctx, client)
		return err
	})
	if err != nil {
		return err
	}
	if err := b.until(ctx, "etcd has left this host", func() error { return b.leave(ctx, masters) }); err != nil {
		return err
	}
	return b.stepDown(ctx)
}

// stepDown stops what runs here; the address of the API moves to a master.
func (b *Bootkube) stepDown(ctx context.Context) error {
	if err := b.Stop(ctx, Units...); err != nil {
		return fmt.Errorf("stop the temporary control plane: %w", err)
	}
	config := kube.Config(b.Host.Plan.API(), b.Host.Keys)
	if err := b.until(ctx, "the address of the API has moved", func() error { return kube.Answers(ctx, config, "/readyz") }); err != nil {
		return err
	}
	return b.until(ctx, "another controller manager may lead", func() error { return releaseLease(ctx, config) })
}

// Units are the temporary control plane: those that float addresses first.
var Units = []string{"bench-keepalived", "machine-config-server", "kube-controller-manager", "kube-apiserver", "etcd"}

// Progress ends when etcd has left this host: bootkube is done, and the members say so.
func (b *Bootkube) Progress(ctx context.Context) error {
	err := b.until(ctx, "bootkube is done", func() error {
		_, err := os.Stat(filepath.Join(b.OpenShift, ".bootkube.done"))
		return err
	})
	if err != nil || b.Host.Plan.InPlace {
		return err
	}
	return b.until(ctx, "etcd has left this host", func() error {
		if !b.left(ctx) {
			return errors.New("require etcd to answer without this host's member")
		}
		return nil
	})
}

// inPlace keeps the cluster for this same host, which starts from its disk next: all of
// etcd goes into the config of the control plane.
func (b *Bootkube) inPlace(ctx context.Context) error {
	if err := b.Stop(ctx, Units[:len(Units)-1]...); err != nil {
		return fmt.Errorf("stop the temporary control plane: %w", err)
	}
	snapshot := filepath.Join(b.Host.State, "snapshot.db")
	err := b.until(ctx, "etcd is saved", func() error { return b.Etcd.Save(ctx, b.Host.Endpoint(programs.EtcdClientPort), snapshot) })
	if err != nil {
		return err
	}
	content, err := os.ReadFile(snapshot)
	if err != nil {
		return fmt.Errorf("read the snapshot: %w", err)
	}
	config, err := b.masterConfig(map[string][]byte{plan.Snapshot: content})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.OpenShift, "master.ign"), config, 0o600); err != nil {
		return fmt.Errorf("write the config of the master: %w", err)
	}
	return b.Stop(ctx, Units[len(Units)-1])
}

func (b *Bootkube) masterConfig(more map[string][]byte) ([]byte, error) {
	config, err := configs.Node(b.Host.Plan, plan.Master, b.Host.Keys, more)
	if err != nil {
		return nil, err
	}
	objects, err := kube.Folder(filepath.Join(b.OpenShift, "manifests"), filepath.Join(b.OpenShift, "openshift"))
	if err != nil {
		return nil, err
	}
	machineConfigs, err := configs.MachineConfigs(objects, plan.Master)
	if err != nil {
		return nil, err
	}
	return configs.Merge(config, machineConfigs)
}

// until tries until there is no error, or ctx ends.
func (b *Bootkube) until(ctx context.Context, what string, try func() error) error {
	last := ""
	for {
		err := try()
		if err == nil {
			b.Log.Info(what)
			return nil
		}
		if err.Error() != last {
			last = err.Error()
			b.Log.Info("waiting", "until", what, "reason", last)
		}
		if err := b.Sleep(ctx, pause); err != nil {
			return fmt.Errorf("wait until %s: %w", what, err)
		}
	}
}
