// Package operators stands in for the operators of a bench cluster: it gives nodes their
// roles and pods their nodes, and reports the state of the cluster as it finds it.
package operators

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"slipway/test/bench/payload/etcd"
	"slipway/test/bench/payload/programs"
)

// Times of the work and of who does it: slow machines must not lose the lead.
const (
	interval      = 20 * time.Second
	leaseDuration = 120 * time.Second
	renewDeadline = 90 * time.Second
	retryPeriod   = 30 * time.Second
)

// Operators is the work on a master. One of all masters does it.
type Operators struct {
	Host   *programs.Host
	Etcd   *etcd.Ctl
	Config *rest.Config
	Log    *slog.Logger
	Sleep  func(context.Context, time.Duration) error

	kube    kubernetes.Interface
	dynamic dynamic.Interface
	said    string
}

// Run works while this host leads; it returns when it no longer does, or ctx ends.
func (o *Operators) Run(ctx context.Context) error {
	if err := o.Open(); err != nil {
		return err
	}
	lease := metav1.ObjectMeta{Namespace: "kube-system", Name: "bench-operators"}
	lead, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: lease, Client: o.kube.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: o.Host.Name},
		},
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: o.work, OnStoppedLeading: func() { o.Log.Info("another host leads") }},
	})
	if err != nil {
		return fmt.Errorf("stand for election: %w", err)
	}
	lead.Run(ctx)
	return ctx.Err()
}

// Open makes the clients.
func (o *Operators) Open() (err error) {
	if o.kube, err = kubernetes.NewForConfig(o.Config); err != nil {
		return err
	}
	o.dynamic, err = dynamic.NewForConfig(o.Config)
	return err
}

func (o *Operators) work(ctx context.Context) {
	o.Log.Info("this host leads")
	for {
		if err := o.Round(ctx); err != nil && ctx.Err() == nil {
			o.Log.Warn("round not completed", "reason", err)
		}
		if o.Sleep(ctx, interval) != nil {
			return
		}
	}
}

// Round looks once and does what is missing.
func (o *Operators) Round(ctx context.Context) error {
	list, err := o.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	if err := o.labelNodes(ctx, list.Items); err != nil {
		return err
	}
	if err := o.annotateNodes(ctx, list.Items); err != nil {
		return err
	}
	if err := o.bindPods(ctx, list.Items); err != nil {
		return err
	}
	if err := o.dismissBootstrap(ctx); err != nil {
		return err
	}
	if err := o.publishRoutes(ctx); err != nil {
		return err
	}
	facts := o.look(ctx, list.Items)
	if facts.Router == nil {
		if err := o.publishAuthority(ctx); err != nil {
			return err
		}
	}
	states := Evaluate(o.Host.Plan, facts)
	o.tell(states)
	for _, s := range states {
		if err := o.report(ctx, clusterOperators, s); err != nil {
			return err
		}
	}
	return o.report(ctx, clusterVersions, ClusterVersion(o.Host.Plan, states))
}

// tell logs the states when they have changed.
func (o *Operators) tell(states []Operator) {
	text := ""
	for _, s := range states {
		text += fmt.Sprintf("%s: %s; ", s.Name, s.Message)
	}
	if text != o.said {
		o.said = text
		o.Log.Info("state of the cluster", "operators", text)
	}
}

// usable nodes run pods.
func usable(node *corev1.Node) bool { return readiness(node) == nil && !node.Spec.Unschedulable }
