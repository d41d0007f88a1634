package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"slipway/test/bench/payload/bootkube"
	"slipway/test/bench/payload/kube"
	"slipway/test/bench/payload/operators"
	"slipway/test/bench/payload/plan"
)

func (a *app) bootkube() *bootkube.Bootkube {
	return &bootkube.Bootkube{
		Host: a.host, Etcd: a.ctl(), OpenShift: a.openShift, Definitions: a.definitions, Stop: a.stop, Log: a.log, Sleep: sleep,
	}
}

func runBootkube(ctx context.Context, a *app) error { return a.bootkube().Run(ctx) }
func runProgress(ctx context.Context, a *app) error { return a.bootkube().Progress(ctx) }

// stop stops units; units that do not exist (without floating addresses) do not matter.
func (a *app) stop(ctx context.Context, units ...string) error {
	for _, unit := range units {
		output, err := exec.CommandContext(ctx, "systemctl", "stop", unit+".service").CombinedOutput()
		if err != nil && !strings.Contains(string(output), "not loaded") {
			return fmt.Errorf("systemctl stop %s: %w: %s", unit, err, strings.TrimSpace(string(output)))
		}
	}
	return nil
}

// approve lets masters in: on the bootstrap host until it has handed over, on a single
// node until that is ready.
func approve(ctx context.Context, a *app) error {
	approver := bootkube.Approver{Names: a.host.Plan.Masters, Limit: a.host.Plan.ControlPlane - 1, Log: a.log}
	if a.host.Role == plan.Master {
		approver.Names = []string{a.host.Name}
	}
	var err error
	if approver.Client, err = kubernetes.NewForConfig(kube.Config("https://localhost:6443", a.host.Keys)); err != nil {
		return err
	}
	for !a.letIn(ctx, approver.Client) {
		if err := approver.Approve(ctx); err != nil {
			a.log.Info("waiting", "reason", err)
		}
		if err := sleep(ctx, retry); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) letIn(ctx context.Context, client kubernetes.Interface) bool {
	if a.host.Role == plan.Bootstrap {
		_, err := os.Stat(filepath.Join(a.openShift, filepath.Base(plan.Done)))
		return err == nil
	}
	node, err := client.CoreV1().Nodes().Get(ctx, a.host.Name, metav1.GetOptions{})
	return err == nil && bootkube.Ready(node)
}

func runOperators(ctx context.Context, a *app) error {
	// etcd may not have made it yet, and its members are asked with it.
	if err := a.host.EtcdCertificate(); err != nil {
		return err
	}
	work := operators.Operators{Host: a.host, Etcd: a.ctl(), Config: kube.Config(a.host.Plan.API(), a.host.Keys), Log: a.log, Sleep: sleep}
	for ctx.Err() == nil {
		if err := work.Run(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}
