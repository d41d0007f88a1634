// Package transitions writes changes of status to the database: each in one transaction that marks its objects for evaluation.
// Evaluation, discovery, reports and activities share it.
package transitions

import (
	"context"

	"github.com/google/uuid"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// HostFacts returns the facts of a host for an event of its own. c is nil when its cluster does not matter.
func HostFacts(h *model.Host, c *model.Cluster, tx *store.Tx) lifecycle.HostFacts {
	return lifecycle.NewHostFacts(lifecycle.HostInput{Host: h, Cluster: c, Now: tx.Now()})
}

// ClusterFacts returns the facts of a cluster for an event of its own.
func ClusterFacts(c *model.Cluster, hosts []*model.Host, tx *store.Tx) lifecycle.ClusterFacts {
	return lifecycle.NewClusterFacts(lifecycle.ClusterInput{Cluster: c, Hosts: hosts, Now: tx.Now(), AwaitingRetry: c.DecisionOpen})
}

// UpdateCluster runs fn on a cluster, not on its hosts, in one transaction and marks the cluster for evaluation. fn may run
// more than once. Its error is returned, and nothing is written then.
func UpdateCluster(ctx context.Context, s *store.Store, id uuid.UUID, fn func(*model.Cluster, *store.Tx) error) error {
	_, err := s.UpdateCluster(ctx, id, func(c *model.Cluster, tx *store.Tx) error {
		if err := fn(c, tx); err != nil {
			return err
		}
		tx.RefreshCluster(id)
		return nil
	})
	return err
}

// UpdateAll works like UpdateCluster, with all hosts of the cluster. Their reports wait meanwhile.
func UpdateAll(ctx context.Context, s *store.Store, id uuid.UUID, fn func(*model.Cluster, []*model.Host, *store.Tx) error) error {
	return s.UpdateInstallation(ctx, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		if err := fn(c, hosts, tx); err != nil {
			return err
		}
		tx.RefreshCluster(id)
		return nil
	})
}

// UpdateHost runs fn on a host in one transaction and marks its cluster and InfraEnv for evaluation. fn may run more
// than once. Its error is returned, and nothing is written then.
func UpdateHost(ctx context.Context, s *store.Store, infraEnvID, id uuid.UUID, fn func(*model.Host, *store.Tx) error) error {
	_, err := s.UpdateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if err := fn(h, tx); err != nil {
			return err
		}
		tx.Refresh(h.ClusterID, h.InfraEnvID)
		return nil
	})
	return err
}
