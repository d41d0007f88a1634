package evaluation

import (
	"context"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// RefreshCluster evaluates a cluster: host networks, machine networks, connectivity groups and suggested roles while it can still be
// changed, then every rule and the Refresh rows of the tables. Changes are written with their events, a large cluster in parts (see
// store.EvaluateCluster). It returns an ErrNotFound for an unknown cluster.
func (e *Evaluator) RefreshCluster(ctx context.Context, id uuid.UUID) error {
	operators, err := e.store.MonitoredOperators(ctx, id)
	if err != nil {
		return err
	}
	uses, err := e.store.ClusterUses(ctx, id)
	if err != nil {
		return err
	}
	earlier := newNews()
	return e.store.EvaluateCluster(ctx, id, func(c *model.Cluster, hosts []*model.Host, t *store.Tx) (store.Decision, error) {
		l := e.look(c, hosts, t)
		l.operators, l.uses, l.news = operators, uses, earlier
		return l.run(), nil
	})
}

// news has what hosts must hear of an evaluation. It is written last, and kept when the evaluation starts over: the hosts that it is
// about are written by then, and look as if nothing had happened.
type news struct {
	moved bool               // there are others to check the connectivity to
	woken map[uuid.UUID]bool // hosts whose held polls end
}

func newNews() *news { return &news{woken: map[uuid.UUID]bool{}} }

// RefreshInfraEnv evaluates the hosts of an InfraEnv that have no cluster.
func (e *Evaluator) RefreshInfraEnv(ctx context.Context, id uuid.UUID) error {
	env, err := e.store.InfraEnv(ctx, id)
	if err != nil {
		return err
	}
	by := Criteria{version: env.OpenShiftVersion, requirements: e.requirements(env.OpenShiftVersion)}
	earlier := newNews()
	return e.store.EvaluateUnboundHosts(ctx, id, func(_ *model.Cluster, hosts []*model.Host, t *store.Tx) (store.Decision, error) {
		var d store.Decision
		for _, before := range hosts {
			h := e.copyOf(before)
			part := t.Part()
			e.evaluateHost(h, by)
			e.refreshHost(h, hostContext{by: by, timeouts: e.timeouts}, part)
			d.Hosts = append(d.Hosts, store.HostChange{Host: h, Tx: part})
			e.wake(earlier, before, h, nil, t)
		}
		return d, nil
	})
}

// copyOf returns the copy that an evaluation works on. Silence from before this process listened
// counts from when it began to.
func (e *Evaluator) copyOf(h *model.Host) *model.Host {
	out := *h
	if !out.CheckedInAt.IsZero() && out.CheckedInAt.Before(e.started) {
		out.CheckedInAt = e.started
	}
	return &out
}
