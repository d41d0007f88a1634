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
	return e.store.EvaluateCluster(ctx, id, func(c *model.Cluster, hosts []*model.Host, t *store.Tx) (store.Decision, error) {
		l := e.look(c, hosts, t)
		l.operators, l.uses = operators, uses
		return l.run(), nil
	})
}

// RefreshInfraEnv evaluates the hosts of an InfraEnv that have no cluster.
func (e *Evaluator) RefreshInfraEnv(ctx context.Context, id uuid.UUID) error {
	env, err := e.store.InfraEnv(ctx, id)
	if err != nil {
		return err
	}
	by := Criteria{version: env.OpenShiftVersion, requirements: e.requirements(env.OpenShiftVersion)}
	return e.store.EvaluateUnboundHosts(ctx, id, func(_ *model.Cluster, hosts []*model.Host, t *store.Tx) (store.Decision, error) {
		var d store.Decision
		for _, before := range hosts {
			h := e.copyOf(before)
			part := t.Part()
			e.evaluateHost(h, by)
			e.refreshHost(h, hostContext{by: by, timeouts: e.timeouts}, part)
			d.Hosts = append(d.Hosts, store.HostChange{Host: h, Tx: part})
			if e.worthWaking(before, h, nil, false, t.Now()) {
				t.WakeHosts(h.ID)
			}
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
