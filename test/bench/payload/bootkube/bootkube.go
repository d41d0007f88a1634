// Package bootkube runs on the bootstrap host of a bench cluster: it gives the new API its objects, waits for
// masters to carry the cluster, and hands it over.
package bootkube

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"slipway/test/bench/payload/etcd"
	"slipway/test/bench/payload/kube"
	"slipway/test/bench/payload/programs"
)

// pause is between two looks.
const pause = 10 * time.Second

// Bootkube is the work of the bootstrap host.
type Bootkube struct {
	Host *programs.Host
	Etcd *etcd.Ctl
	// OpenShift is the folder of the manifests, Definitions the folder of the definitions of kinds.
	OpenShift, Definitions string
	// Stop stops units of this host.
	Stop  func(ctx context.Context, units ...string) error
	Log   *slog.Logger
	Sleep func(context.Context, time.Duration) error
}

// Run does all of it, in stages of which each leaves a mark: it is started again 5 s after a failure, and continues
// with the first stage that is not done. It returns at once when it was done before.
func (b *Bootkube) Run(ctx context.Context) error {
	done := filepath.Join(b.OpenShift, ".bootkube.done")
	if exists(done) {
		return nil
	}
	stages := []stage{
		{"cb-bootstrap", b.clusterBootstrap},
		{"machine-config-server-gone", b.removeConfigServer},
		{"wait-for-ceo", b.waitForEtcdOperator},
		{"check-api-int-url", b.checkAPI},
	}
	if b.Host.Plan.InPlace {
		stages = []stage{{"cb-bootstrap", b.clusterBootstrap}, {"stop-etcd", b.stopEtcd}, {"master-ignition", b.masterIgnition}}
	}
	for _, s := range stages {
		if err := b.pass(ctx, s); err != nil {
			return err
		}
	}
	b.Log.Info("bootkube.service complete")
	return os.WriteFile(done, nil, 0o600)
}

// stage is a part of bootkube that is done once.
type stage struct {
	name string
	do   func(context.Context) error
}

func (b *Bootkube) pass(ctx context.Context, s stage) error {
	mark := filepath.Join(b.OpenShift, s.name+".done")
	if exists(mark) {
		return nil
	}
	b.Log.Info("stage begins", "stage", s.name)
	if err := s.do(ctx); err != nil {
		return fmt.Errorf("stage %s: %w", s.name, err)
	}
	return os.WriteFile(mark, nil, 0o600)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// waitLimit is how long cluster-bootstrap waits for the API, and then for the masters; several rounds are usual
// (openshift/cluster-bootstrap, pkg/start/start.go).
const waitLimit = 20 * time.Minute

// clusterBootstrap gives the API of this host its objects, waits for masters that carry the cluster, and takes that
// API down: from then on the cluster is reached by its own address only.
func (b *Bootkube) clusterBootstrap(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	if err := b.until(limited, "the API answers", func() error { return kube.Answers(limited, b.local(), "/readyz") }); err != nil {
		return err
	}
	if err := b.applyAll(limited); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(b.local())
	if err != nil {
		return err
	}
	if !b.Host.Plan.InPlace {
		limited, cancel := context.WithTimeout(ctx, waitLimit)
		defer cancel()
		carriers := carriers{}
		err := b.until(limited, "masters carry the cluster", func() error { return b.carried(limited, client, carriers) })
		if err != nil {
			return err
		}
	}
	for _, event := range []string{"bootstrap-success", "bootstrap-finished"} {
		if err := record(ctx, client, event, b.Host.Now()); err != nil {
			return err
		}
	}
	if err := b.Stop(ctx, "kube-controller-manager"); err != nil {
		return fmt.Errorf("take the temporary control plane down: %w", err)
	}
	if err := releaseLease(ctx, b.local()); err != nil {
		return fmt.Errorf("let another controller manager lead: %w", err)
	}
	if err := b.Stop(ctx, "kube-apiserver"); err != nil {
		return fmt.Errorf("take the temporary control plane down: %w", err)
	}
	return nil
}

// removeConfigServer ends the machine config server of this host: masters fetch their configs elsewhere from then on,
// once the address of the API has left.
func (b *Bootkube) removeConfigServer(ctx context.Context) error {
	return b.Stop(ctx, "machine-config-server")
}

// handOverMark is a file of bootstrap.ign that lets the operator of etcd take over while this host is a member.
const handOverMark = "assisted-install-bootstrap"

// VotersNeeded returns how many members of etcd must vote on masters before the operator of etcd takes over: with its mark
// two, or all others of a small control plane, without it one more (openshift/cluster-etcd-operator,
// pkg/operator/ceohelpers/bootstrap.go).
func (b *Bootkube) VotersNeeded() int {
	others := min(b.Host.Plan.ControlPlane-1, enough)
	if exists(filepath.Join(b.OpenShift, handOverMark)) {
		return others
	}
	return others + 1
}

// waitForEtcdOperator waits without a limit.
func (b *Bootkube) waitForEtcdOperator(ctx context.Context) error {
	return b.until(ctx, "etcd runs in the cluster", func() error {
		members, err := b.Etcd.Members(ctx, b.Host.Endpoint(programs.EtcdClientPort))
		if err != nil {
			return err
		}
		voting := 0
		for _, m := range members {
			if m.Name == b.Host.EtcdName() || !m.Votes() || len(m.Clients) == 0 {
				continue
			}
			if err := b.Etcd.Healthy(ctx, m.Clients[0]); err != nil {
				return err
			}
			voting++
		}
		if need := b.VotersNeeded(); voting < need {
			return fmt.Errorf("require %d members of etcd on masters, found %d", need, voting)
		}
		return nil
	})
}

// checkAPI looks once whether the cluster is reached; what it finds is only logged.
func (b *Bootkube) checkAPI(ctx context.Context) error {
	err := kube.Answers(ctx, kube.Config(b.Host.Plan.API(), b.Host.Keys), "/readyz")
	b.Log.Info("the API of the cluster was asked", "error", err)
	return nil
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

// local configures clients for the API server of this host.
func (b *Bootkube) local() *rest.Config { return kube.Config("https://localhost:6443", b.Host.Keys) }

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
