// Package installation is the database side of an installation: what a phase means for
// the rows of a cluster and its hosts. The order of phases is the workflow's.
package installation

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
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
	// WithoutClusterVersion leaves the operator cvo out of what an installation waits for.
	WithoutClusterVersion bool
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
	return &Service{store: o.Store, blob: o.Blob, discovery: o.Discovery, log: o.Log, waitForVersion: !o.WithoutClusterVersion}
}

// Key is the place of a cluster's file in the blob store.
func Key(cluster uuid.UUID, file string) string { return Folder(cluster) + "/" + file }

// Folder is where all files of a cluster are in the blob store.
func Folder(cluster uuid.UUID) string { return "clusters/" + cluster.String() }

func about(c *model.Cluster) events.Subject { return events.Subject{ClusterID: &c.ID, Cluster: c} }

func aboutHost(h *model.Host) events.Subject {
	return events.Subject{ClusterID: h.ClusterID, HostID: &h.ID, InfraEnvID: &h.InfraEnvID, HostName: h.Hostname(), Host: h}
}

// setCluster moves a cluster to a status and writes the event of it.
func setCluster(tx *store.Tx, c *model.Cluster, status model.ClusterStatus, info string) {
	if c.Status == status && c.StatusInfo == info {
		return
	}
	c.Status, c.StatusInfo = status, info
	tx.Event(events.New(events.ClusterStatusUpdated, about(c), events.Props{
		"cluster_status": string(status), "status_info": info,
	}, tx.Now()))
}

// setHost moves a host to a status and writes the event of it.
func setHost(tx *store.Tx, h *model.Host, status model.HostStatus, info string) {
	if h.Status == status && h.StatusInfo == info {
		return
	}
	from := h.Status
	h.Status, h.StatusInfo = status, info
	tx.Event(events.New(events.HostStatusUpdated, aboutHost(h), events.Props{
		"src_status": string(from), "new_status": string(status), "info": info,
	}, tx.Now()))
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
