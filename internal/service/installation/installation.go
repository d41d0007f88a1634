// Package installation is the database side of an installation: what a phase means for
// the rows of a cluster and its hosts. The order of phases is the workflow's.
package installation

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
)

// Options are what a Service works with.
type Options struct {
	Store     *store.Store
	Blob      *blob.Store
	Discovery *discovery.Service
	Log       *slog.Logger
	// CheckClusterVersion adds the operator cvo to what an installation waits for.
	CheckClusterVersion bool
}

// Service changes installations in the database. It is safe for concurrent use; every
// method may run twice for one decision.
type Service struct {
	store     *store.Store
	blob      *blob.Store
	discovery *discovery.Service
	log       *slog.Logger
	// waitForVersion is about the operator cvo.
	waitForVersion bool
}

// New makes a Service.
func New(o Options) *Service {
	return &Service{store: o.Store, blob: o.Blob, discovery: o.Discovery, log: o.Log, waitForVersion: o.CheckClusterVersion}
}

// Key is the place of a cluster's file in the blob store.
func Key(cluster uuid.UUID, file string) string { return Folder(cluster) + "/" + file }

// Folder is where all files of a cluster are in the blob store.
func Folder(cluster uuid.UUID) string { return "clusters/" + cluster.String() }

// hostFacts are the facts of a host for an event of its own; c is nil when its cluster
// does not matter.
func hostFacts(h *model.Host, c *model.Cluster, tx *store.Tx) lifecycle.HostFacts {
	return lifecycle.NewHostFacts(lifecycle.HostInput{Host: h, Cluster: c, Now: tx.Now()})
}

// clusterFacts are the facts of a cluster for an event of its own.
func clusterFacts(c *model.Cluster, hosts []*model.Host, tx *store.Tx) lifecycle.ClusterFacts {
	return lifecycle.NewClusterFacts(lifecycle.ClusterInput{Cluster: c, Hosts: hosts, Now: tx.Now(), AwaitingRetry: c.DecisionOpen})
}

// ifPossible drops the refusal of an event that an object is past: an activity may run
// twice, and a host may be booted by hand.
func ifPossible(err error) error {
	if errors.Is(err, model.ErrConflict) {
		return nil
	}
	return err
}

// update runs fn on a cluster and its hosts and marks the cluster for evaluation.
func (s *Service) update(ctx context.Context, id uuid.UUID, fn func(*model.Cluster, []*model.Host, *store.Tx) error) error {
	return s.store.UpdateInstallation(ctx, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		if err := fn(c, hosts, tx); err != nil {
			return err
		}
		tx.RefreshCluster(id)
		return nil
	})
}

// since is the age of an instant, in whole seconds, for status lines.
func since(now, t time.Time) time.Duration { return now.Sub(t).Truncate(time.Second) }
