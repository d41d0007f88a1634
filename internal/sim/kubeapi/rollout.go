package kubeapi

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// Rollout is how the operators of a simulated cluster come up.
type Rollout struct {
	// ControlPlane is how many masters must take pods before the operators start: ready, and without the taint of nodes
	// that no cloud has initialized; 1 for a single node.
	ControlPlane int
	// Duration is the time from then until everything is available; operators follow
	// each other evenly in it.
	Duration time.Duration
	// Version is the OpenShift version reported, such as 4.20.1.
	Version string
	// Domain is <cluster name>.<base domain>, of which the console route is made.
	Domain string
	// Operators are the ClusterOperators; empty: a usual selection, console included.
	Operators []string
	// Poll is the time between two looks at the API; 500 ms if zero.
	Poll time.Duration
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// RunRollout plays the operators of a cluster: ClusterVersion "version" and the
// ClusterOperators exist from the start and progress; when enough masters are Ready
// they become available one after the other, and the default-ingress-cert ConfigMap and
// the console route appear. It returns nil when all is available. An API that does not
// answer is tried again until ctx ends, and a run after a crash continues: the time the
// rollout began is kept on the ClusterVersion.
func RunRollout(ctx context.Context, apiURL string, r Rollout) error {
	if r.Poll <= 0 {
		r.Poll = defaultPoll
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	if len(r.Operators) == 0 {
		r.Operators = usualOperators
	}
	config := Config(apiURL, UserAdmin)
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make client of the operators: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make dynamic client of the operators: %w", err)
	}
	run := &rollout{Rollout: r, kube: kube, dynamic: dyn}
	return poll(ctx, r.Poll, run.step)
}

var usualOperators = []string{
	"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "machine-config", "network",
	"dns", "ingress", "authentication", "image-registry", "monitoring", "console",
}
