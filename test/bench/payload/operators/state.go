package operators

import (
	"fmt"

	"slipway/test/bench/payload/plan"
)

// Operator is the state of one operator.
type Operator struct {
	Name string
	// Available: what the operator is for works. Progressing: it is not yet all that is planned.
	Available, Progressing bool
	Message                string
}

// Evaluate returns the state of all operators by the facts, in the order of their names.
func Evaluate(c *plan.Cluster, f Facts) []Operator {
	majority := c.ControlPlane/2 + 1
	members := counted("members of etcd", f.Etcd, majority, c.ControlPlane)
	if f.EtcdUnknown != nil {
		members = Operator{Progressing: true, Message: "the members of etcd are not known: " + f.EtcdUnknown.Error()}
	}
	operators := []Operator{
		named("console", answering("the console", f.Console)),
		named("etcd", members),
		named("ingress", answering("the router", f.Router)),
		named("kube-apiserver", counted("API servers", f.APIServers, 1, c.ControlPlane)),
		named("kube-controller-manager", counted("controller managers", f.Controllers, 1, c.ControlPlane)),
		named("machine-config", nodes(c, f)),
	}
	return operators
}

// ClusterVersion returns the state of all of the cluster.
func ClusterVersion(c *plan.Cluster, operators []Operator) Operator {
	done := 0
	waiting := ""
	for _, o := range operators {
		if o.Available && !o.Progressing {
			done++
		} else if waiting == "" {
			waiting = ", waiting for " + o.Name
		}
	}
	if done == len(operators) {
		return Operator{Name: "version", Available: true, Message: "Done applying " + c.Version}
	}
	return Operator{
		Name: "version", Progressing: true,
		Message: fmt.Sprintf("Working towards %s: %d of %d done%s", c.Version, done, len(operators), waiting),
	}
}

func named(name string, o Operator) Operator {
	o.Name = name
	return o
}

// counted makes an operator that is available when enough work, and progressing until all do.
func counted(what string, things map[string]error, enough, all int) Operator {
	n := working(things)
	return Operator{
		Available: n >= enough, Progressing: n < all,
		Message: fmt.Sprintf("%d of %d %s work%s", n, all, what, firstTrouble(things)),
	}
}

func answering(what string, err error) Operator {
	if err != nil {
		return Operator{Progressing: true, Message: what + " does not answer: " + err.Error()}
	}
	return Operator{Available: true, Message: what + " answers"}
}

// nodes makes an operator that is available when the masters are ready but for one that may still come, and progressing until all are.
// Workers join after the installation's own pace.
func nodes(c *plan.Cluster, f Facts) Operator {
	masters, workers := working(f.Masters), working(f.Workers)
	return Operator{
		Available: masters >= c.ControlPlane, Progressing: masters < c.ControlPlane,
		Message: fmt.Sprintf("%d of %d masters and %d of %d workers are ready%s%s", masters, c.ControlPlane, workers, c.Workers,
			firstTrouble(f.Masters), firstTrouble(f.Workers)),
	}
}
