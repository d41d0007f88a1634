package installation

import (
	"context"
	"path"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// Cancel stops an installation in the database. One that has ended stays what it is.
func (s *Service) Cancel(ctx context.Context, id uuid.UUID) error {
	return s.update(ctx, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		tx.SupersedeCluster(id)
		facts, before := clusterFacts(c, hosts, tx), *c
		facts.Reason = "the installation was cancelled"
		c.DecisionOpen = false
		if c.Status == model.ClusterPreparingForInstallation {
			if err := stopPreparing(tx, c, hosts); err != nil {
				return err
			}
		}
		if _, err := lifecycle.ApplyCluster(c, lifecycle.CancelCluster, facts, tx); err != nil {
			return ifPossible(err)
		}
		if c.Status != model.ClusterCancelled {
			return nil
		}
		for _, h := range hosts {
			if _, err := lifecycle.ApplyHost(h, lifecycle.CancelHost, hostFacts(h, &before, tx), tx); ifPossible(err) != nil {
				return err
			}
		}
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
			running, err := beginReset(tx, h)
			if err != nil {
				return err
			}
			if running {
				stop = append(stop, h)
			}
		}
		return nil
	})
	return stop, err
}

// beginReset takes a host out of its installation and reports whether its agent may
// still be at work. One that has left the live image waits for its user.
func beginReset(tx *store.Tx, h *model.Host) (stop bool, err error) {
	if _, err := lifecycle.ApplyHost(h, lifecycle.ResetHost, hostFacts(h, nil, tx), tx); err != nil {
		return false, ifPossible(err)
	}
	return h.Status == model.HostResetting && since(tx.Now(), h.CheckedInAt) < time.Minute, nil
}

// finishReset returns a host that is still in the live image to discovery.
func finishReset(tx *store.Tx, h *model.Host) error {
	_, err := lifecycle.ApplyHost(h, lifecycle.FinishHostReset, hostFacts(h, nil, tx), tx)
	return ifPossible(err)
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
		facts := clusterFacts(c, hosts, tx)
		for _, h := range hosts {
			if err := finishReset(tx, h); err != nil {
				return err
			}
		}
		if _, err := lifecycle.ApplyCluster(c, lifecycle.ResetCluster, facts, tx); err != nil {
			return ifPossible(err)
		}
		tx.ResetOperators(id)
		return nil
	})
}
