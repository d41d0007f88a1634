package discovery

import (
	"context"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// RefreshCluster evaluates a cluster: host networks, machine networks, connectivity
// groups and suggested roles while it can still be changed, then every rule and the
// Refresh rows of the tables. What changed is written with its events, a large cluster
// in parts (see store.EvaluateCluster). It returns an ErrNotFound for an unknown cluster.
func (s *Service) RefreshCluster(ctx context.Context, id uuid.UUID) error {
	operators, err := s.store.MonitoredOperators(ctx, id)
	if err != nil {
		return err
	}
	uses, err := s.store.ClusterUses(ctx, id)
	if err != nil {
		return err
	}
	return s.store.EvaluateCluster(ctx, id, func(c *model.Cluster, hosts []*model.Host, t *store.Tx) (store.Decision, error) {
		e := s.evaluate(c, hosts, t)
		e.operators, e.uses = operators, uses
		return e.run(), nil
	})
}

// RefreshInfraEnv evaluates the hosts of an InfraEnv that have no cluster.
func (s *Service) RefreshInfraEnv(ctx context.Context, id uuid.UUID) error {
	env, err := s.store.InfraEnv(ctx, id)
	if err != nil {
		return err
	}
	by := criteria{version: env.OpenShiftVersion, requirements: s.requirements(env.OpenShiftVersion)}
	return s.store.EvaluateUnboundHosts(ctx, id, func(_ *model.Cluster, hosts []*model.Host, t *store.Tx) (store.Decision, error) {
		var d store.Decision
		for _, before := range hosts {
			h := s.copyOf(before)
			part := t.Part()
			s.evaluateHost(h, by)
			s.refreshHost(h, hostContext{by: by, timeouts: s.timeouts}, part)
			d.Hosts = append(d.Hosts, store.HostChange{Host: h, Tx: part})
			if s.worthWaking(before, h, nil, false, t.Now()) {
				t.WakeHosts(h.ID)
			}
		}
		return d, nil
	})
}

// copyOf is what an evaluation works on. Silence from before this process listened
// counts from when it began to.
func (s *Service) copyOf(h *model.Host) *model.Host {
	out := *h
	if !out.CheckedInAt.IsZero() && out.CheckedInAt.Before(s.started) {
		out.CheckedInAt = s.started
	}
	return &out
}
