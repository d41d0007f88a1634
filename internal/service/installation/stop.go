package installation

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// Cancel stops an installation in the database: rows 1 and 2 of the cluster table,
// rows 16 to 18 of the host table.
func (s *Service) Cancel(ctx context.Context, id uuid.UUID) error {
	return s.update(ctx, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		tx.SupersedeCluster(id)
		c.DecisionOpen = false
		switch c.Status {
		case model.ClusterPreparingForInstallation:
			s.abandon(tx, c, hosts, "the installation was cancelled")
		case model.ClusterInstalling, model.ClusterInstallingPendingUserAction, model.ClusterError, model.ClusterFinalizing:
			setCluster(tx, c, model.ClusterCancelled, "The installation was cancelled")
			for _, h := range hosts {
				h.DecisionOpen = false
				setHost(tx, h, model.HostCancelled, "The installation was cancelled")
				tx.Event(events.New(events.HostInstallationCancelled, aboutHost(h), nil, tx.Now()))
			}
		default:
			return nil
		}
		c.WorkflowStarted = true
		tx.Event(events.New(events.ClusterInstallationCanceled, about(c), nil, tx.Now()))
		return nil
	})
}

// BeginReset voids what hosts were told and lists those whose agents may still be at
// work: hosts in the live image that were heard of lately.
func (s *Service) BeginReset(ctx context.Context, id uuid.UUID) ([]*model.Host, error) {
	var stop []*model.Host
	err := s.update(ctx, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		stop, c.DecisionOpen = nil, false
		tx.SupersedeCluster(id)
		for _, h := range hosts {
			if beginReset(tx, h) {
				stop = append(stop, h)
			}
		}
		return nil
	})
	return stop, err
}

// beginReset takes a host out of its installation and reports whether its agent may
// still be at work. One that has left the live image waits for its user (row 20).
func beginReset(tx *store.Tx, h *model.Host) (stop bool) {
	h.DecisionOpen = false
	if h.Stage.LeftLiveImage() || slices.Contains(outOfLiveImage, h.Status) {
		setHost(tx, h, model.HostResettingPendingUserAction, "Boot the host from the discovery image again to go on with the reset")
		tx.Event(events.New(events.UserRequiredCompleteInstallationReset, aboutHost(h), nil, tx.Now()))
		return false
	}
	setHost(tx, h, model.HostResetting, "The installation is being reset")
	return since(tx.Now(), h.CheckedInAt) < time.Minute
}

// outOfLiveImage are the statuses of hosts without an agent.
var outOfLiveImage = []model.HostStatus{
	model.HostInstalled, model.HostAddedToExistingCluster, model.HostResettingPendingUserAction,
}

// finishReset takes a host that is still in the live image back to discovery.
func finishReset(tx *store.Tx, h *model.Host) {
	forget(h)
	if h.Status == model.HostResetting {
		setHost(tx, h, model.HostDiscovering, "Waiting for the host to send its inventory")
	}
	tx.Event(events.New(events.HostInstallationReset, aboutHost(h), nil, tx.Now()))
}

// deleteGenerated deletes what an installation made for hosts, controller and users:
// the files of a cluster that are in no folder of their own, as logs and manifests are.
func (s *Service) deleteGenerated(ctx context.Context, id uuid.UUID) error {
	files, err := s.blob.List(ctx, Folder(id))
	if err != nil {
		return err
	}
	for _, file := range files {
		if path.Dir(file.Key) != Folder(id) {
			continue
		}
		if err := s.blob.Delete(ctx, file.Key); err != nil {
			return err
		}
	}
	return nil
}

// FinishReset takes the cluster and the hosts that are still in the live image back to
// discovery. What the installation generated is deleted.
func (s *Service) FinishReset(ctx context.Context, id uuid.UUID) error {
	if err := s.deleteGenerated(ctx, id); err != nil {
		return err
	}
	return s.update(ctx, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		tx.SupersedeCluster(id)
		for _, h := range hosts {
			finishReset(tx, h)
		}
		c.Progress, c.LastPreparation = model.ClusterProgress{}, model.Preparation{}
		c.InstallStartedAt, c.InstallCompletedAt, c.IngressCertAt = time.Time{}, time.Time{}, time.Time{}
		c.Completion, c.LogsInfo, c.WorkflowStarted = nil, model.LogsNone, true
		setCluster(tx, c, model.ClusterInsufficient, "The installation was reset; the cluster is being evaluated")
		tx.ResetOperators(id)
		tx.Event(events.New(events.ClusterInstallationReset, about(c), nil, tx.Now()))
		return nil
	})
}

// forget drops what a host's installation left in its row; discovery asks again.
func forget(h *model.Host) {
	h.Bootstrap, h.DecisionOpen, h.Attempt = false, false, 0
	if h.AutoRole {
		h.Role, h.AutoRole = model.RoleAutoAssign, false
	}
	h.Stage, h.Progress, h.Facts = "", model.HostProgress{}, nil
	h.Inventory, h.Images, h.DiskSpeed, h.Connectivity = nil, nil, nil, nil
	h.LogsInfo, h.LogsStartedAt, h.LogsCollectedAt = model.LogsNone, time.Time{}, time.Time{}
}
