package activities

import (
	"context"
	"path"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
)

// CancelInstallation stops an installation in the database. An installation that has ended is left unchanged.
func (a *Clusters) CancelInstallation(ctx context.Context, r InstallRequest) error {
	return nonRetryable(transitions.UpdateAll(ctx, a.Store, r.ClusterID, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		if err := r.sameAttempt(c); err != nil {
			return err
		}
		tx.SupersedeCluster(c.ID)
		facts, before := transitions.ClusterFacts(c, hosts, tx), *c
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
			if _, err := lifecycle.ApplyHost(h, lifecycle.CancelHost, transitions.HostFacts(h, &before, tx), tx); ifPossible(err) != nil {
				return err
			}
		}
		return nil
	}))
}

// BeginReset returns the cluster to the statuses before an installation, voids the steps of hosts and lists the hosts whose agents have
// to stop: hosts in the live image that polled lately. It fails with FailureSuperseded when another attempt was begun meanwhile, or the
// cluster is installed.
func (a *Clusters) BeginReset(ctx context.Context, r ResetTarget) (ResetPlan, error) {
	var plan ResetPlan
	id := r.ClusterID
	err := transitions.UpdateAll(ctx, a.Store, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		if err := r.present(c); err != nil {
			return err
		}
		plan.Stop, c.DecisionOpen = nil, false
		tx.SupersedeCluster(id)
		for _, h := range hosts {
			running, err := beginReset(tx, h)
			if err != nil {
				return err
			}
			if running {
				plan.Stop = append(plan.Stop, HostRef{ClusterID: id, InfraEnvID: h.InfraEnvID, HostID: h.ID})
			}
		}
		// At once, as v2's resets do: an evaluation would see an installation without hosts, and fail it.
		_, err := lifecycle.ApplyCluster(c, lifecycle.ResetCluster, transitions.ClusterFacts(c, hosts, tx), tx)
		return ifPossible(err)
	})
	if err != nil {
		return ResetPlan{}, nonRetryable(err)
	}
	return plan, nil
}

// present refuses the reset of an attempt other than the present one, and of a cluster that is installed by now.
func (r ResetTarget) present(c *model.Cluster) error {
	if r.Attempt != 0 && c.InstallAttempt != r.Attempt || c.Status == model.ClusterInstalled {
		return superseded("there is nothing to reset: cluster %s is %s and in installation %d", c.Name, c.Status, c.InstallAttempt)
	}
	return nil
}

// agentRuns is how lately an agent must have polled to count as still running steps.
const agentRuns = time.Minute

// beginReset takes a host out of its installation and reports whether its agent may
// still run steps. One that has left the live image, or began the bootstrap, waits for its user.
func beginReset(tx *store.Tx, h *model.Host) (stop bool, err error) {
	facts := transitions.HostFacts(h, nil, tx)
	if _, err := lifecycle.ApplyHost(h, lifecycle.ResetHost, facts, tx); err != nil {
		return false, ifPossible(err)
	}
	live := h.Status == model.HostResetting || h.Status == model.HostResettingPendingUserAction && facts.AgentBesideBootstrap()
	return live && tx.Now().Sub(h.CheckedInAt) < agentRuns, nil
}

// finishReset returns a host that is still in the live image to discovery.
func finishReset(tx *store.Tx, h *model.Host) error {
	_, err := lifecycle.ApplyHost(h, lifecycle.FinishHostReset, transitions.HostFacts(h, nil, tx), tx)
	return ifPossible(err)
}

// FinishReset returns the hosts that are still in the live image to discovery. What the installation generated is deleted. It returns
// the same errors as BeginReset.
func (a *Clusters) FinishReset(ctx context.Context, r ResetTarget) error {
	id := r.ClusterID
	c, err := a.Store.Cluster(ctx, id)
	if err != nil {
		return nonRetryable(err)
	}
	if err := r.present(c); err != nil {
		return err
	}
	if err := a.deleteGenerated(ctx, id); err != nil {
		return nonRetryable(err)
	}
	return nonRetryable(transitions.UpdateAll(ctx, a.Store, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		if err := r.present(c); err != nil {
			return err
		}
		tx.SupersedeCluster(id)
		facts := transitions.ClusterFacts(c, hosts, tx)
		for _, h := range hosts {
			if err := finishReset(tx, h); err != nil {
				return err
			}
		}
		if _, err := lifecycle.ApplyCluster(c, lifecycle.FinishClusterReset, facts, tx); err != nil {
			return ifPossible(err)
		}
		tx.ResetOperators(id)
		return nil
	}))
}

// deleteGenerated deletes what an installation made for hosts, controller and users: the files of a cluster outside of folders such as
// logs and manifests.
func (a *Clusters) deleteGenerated(ctx context.Context, id uuid.UUID) error {
	folder := blob.ClusterFolder(id)
	files, err := a.Blob.List(ctx, folder)
	if err != nil {
		return err
	}
	for _, file := range files {
		if path.Dir(file.Key) != folder {
			continue
		}
		if err := a.Blob.Delete(ctx, file.Key); err != nil {
			return err
		}
	}
	return nil
}
