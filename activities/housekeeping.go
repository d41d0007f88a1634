package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"slipway/internal/cluster/events"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
)

// Housekeeping removes idle and deleted objects. Every activity does one batch; done again, it finds nothing left of it.
type Housekeeping struct {
	Store *store.Store
	Blob  *blob.Store
	// Running reports whether a workflow installs a cluster now.
	Running func(ctx context.Context, clusterID uuid.UUID) (bool, error)
}

// Batch names the objects of one batch: how old they are, and where it begins.
type Batch struct {
	OlderThan time.Duration // untouched, or deleted, for longer than that
	After     uuid.UUID     // the last object of the batch before; zero at first
}

// BatchDone is the outcome of a batch.
type BatchDone struct {
	Removed int
	Last    uuid.UUID // the next batch begins after it
	More    bool      // there may be more
}

// Sizes of batches: one ends within seconds, and its heartbeats come far more often.
const (
	idleBatch  = 100
	purgeBatch = 20
	hostBatch  = 500
	auditBatch = 5000
)

// DeregisterIdleClusters deletes clusters that were never installed, or failed, and that
// neither a user nor a host touched for long.
func (a *Housekeeping) DeregisterIdleClusters(ctx context.Context, b Batch) (BatchDone, error) {
	since := a.Store.Now().Add(-b.OlderThan)
	ids, err := a.Store.IdleClusters(ctx, since, b.After, idleBatch)
	if err != nil {
		return BatchDone{}, err
	}
	return batch(ctx, ids, idleBatch, func(id uuid.UUID) (bool, error) {
		if running, err := a.Running(ctx, id); running || err != nil {
			return false, err
		}
		return a.Store.DeleteIdleCluster(ctx, id, since, func(c *model.Cluster, borrowed []*model.Host, t *store.Tx) error {
			about := events.Subject{ClusterID: &c.ID, Cluster: c}
			t.Event(events.New(events.AfterInactivityClusterDeregistered, about, nil, t.Now()))
			t.Event(events.New(events.InactiveClustersDeregistered, about, events.Props{
				"message": fmt.Sprintf("%s was last touched %s", c.Name, c.UpdatedAt.UTC().Format(time.RFC3339)),
			}, t.Now()))
			return transitions.UnbindAll(borrowed, t, t)
		})
	})
}

// DeregisterIdleInfraEnvs deletes InfraEnvs that belong to no cluster, with
// hosts that were silent for long, if any.
func (a *Housekeeping) DeregisterIdleInfraEnvs(ctx context.Context, b Batch) (BatchDone, error) {
	since := a.Store.Now().Add(-b.OlderThan)
	ids, err := a.Store.IdleInfraEnvs(ctx, since, b.After, idleBatch)
	if err != nil {
		return BatchDone{}, err
	}
	return batch(ctx, ids, idleBatch, func(id uuid.UUID) (bool, error) {
		return a.Store.DeleteIdleInfraEnv(ctx, id, since, func(e *model.InfraEnv, t *store.Tx) {
			t.Event(events.New(events.InfraEnvDeregistered, events.Subject{InfraEnvID: &e.ID}, nil, t.Now()))
		})
	})
}

// DeregisterIdleHosts deletes hosts that belong to no cluster and were silent for long, in
// InfraEnvs that others still use.
func (a *Housekeeping) DeregisterIdleHosts(ctx context.Context, b Batch) (BatchDone, error) {
	since := a.Store.Now().Add(-b.OlderThan)
	hosts, err := a.Store.IdleHosts(ctx, since, hostBatch)
	if err != nil {
		return BatchDone{}, err
	}
	var done BatchDone
	for _, key := range hosts {
		activity.RecordHeartbeat(ctx)
		removed, err := a.Store.DeleteIdleHost(ctx, key, since, func(h *model.Host, t *store.Tx) {
			about := events.Subject{InfraEnvID: &h.InfraEnvID, HostID: &h.ID, HostName: h.Hostname(), Host: h}
			t.Event(events.New(events.HostDeregistered, about, nil, t.Now()))
		})
		if err != nil {
			return done, fmt.Errorf("remove host %s: %w", key.HostID, err)
		}
		if removed {
			done.Removed++
		}
	}
	// Those that spoke up again are not found next time; a batch of only such ends it.
	done.More = len(hosts) == hostBatch && done.Removed > 0
	return done, nil
}

// PurgeClusters removes deleted clusters for good: their files first, then their rows, so
// that a crash in between leaves something to find them by.
func (a *Housekeeping) PurgeClusters(ctx context.Context, b Batch) (BatchDone, error) {
	ids, err := a.Store.DeletedClusters(ctx, a.Store.Now().Add(-b.OlderThan), b.After, purgeBatch)
	if err != nil {
		return BatchDone{}, err
	}
	done, err := batch(ctx, ids, purgeBatch, func(id uuid.UUID) (bool, error) {
		begun, err := a.Store.BeginPurge(ctx, id)
		if !begun || err != nil {
			return false, err
		}
		if err := a.Blob.DeletePrefix(ctx, blob.ClusterFolder(id)); err != nil {
			return false, err
		}
		return a.Store.PurgeCluster(ctx, id)
	})
	if err == nil && done.Removed > 0 {
		err = a.Store.Write(ctx, func(t *store.Tx) error {
			t.Event(events.New(events.ClustersPermanentlyDeleted, events.Subject{}, events.Props{
				"message": fmt.Sprintf("%d of those deleted for longer than %s", done.Removed, b.OlderThan),
			}, t.Now()))
			return nil
		})
	}
	return done, err
}

// PurgeInfraEnvs removes deleted InfraEnvs for good.
func (a *Housekeeping) PurgeInfraEnvs(ctx context.Context, b Batch) (BatchDone, error) {
	ids, err := a.Store.DeletedInfraEnvs(ctx, a.Store.Now().Add(-b.OlderThan), b.After, purgeBatch)
	if err != nil {
		return BatchDone{}, err
	}
	return batch(ctx, ids, purgeBatch, func(id uuid.UUID) (bool, error) { return a.Store.PurgeInfraEnv(ctx, id) })
}

// PurgeHosts removes deleted hosts for good.
func (a *Housekeeping) PurgeHosts(ctx context.Context, b Batch) (BatchDone, error) {
	n, err := a.Store.PurgeHosts(ctx, a.Store.Now().Add(-b.OlderThan), hostBatch)
	return BatchDone{Removed: n, More: n == hostBatch}, err
}

// PurgeAudit removes old rows of the audit.
func (a *Housekeeping) PurgeAudit(ctx context.Context, b Batch) (BatchDone, error) {
	n, err := a.Store.PurgeAudit(ctx, a.Store.Now().Add(-b.OlderThan), auditBatch)
	return BatchDone{Removed: n, More: n == auditBatch}, err
}

func batch(ctx context.Context, ids []uuid.UUID, size int, remove func(uuid.UUID) (bool, error)) (BatchDone, error) {
	done := BatchDone{More: len(ids) == size}
	for _, id := range ids {
		activity.RecordHeartbeat(ctx)
		removed, err := remove(id)
		if err != nil {
			return done, fmt.Errorf("remove %s: %w", id, err)
		}
		if removed {
			done.Removed++
		}
		done.Last = id
	}
	return done, nil
}
