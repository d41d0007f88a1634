package orchestrator

import (
	"context"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
)

// Evaluation evaluates the rules of a cluster.
type Evaluation interface {
	RefreshCluster(ctx context.Context, id uuid.UUID) error
}

// Acceptance writes commands of users to the database. A workflow carries out an accepted command, also when this process dies in
// between. It is safe for concurrent use.
type Acceptance struct {
	Store      *store.Store
	Evaluation Evaluation
}

// Install takes an install command: the cluster is preparing from here on, and its
// workflow will be started, by this process or by another one after a crash. It
// returns the number of the attempt, or an ErrConflict that names what is missing.
func (a Acceptance) Install(ctx context.Context, id uuid.UUID) (int, error) {
	if err := a.Evaluation.RefreshCluster(ctx, id); err != nil {
		return 0, err
	}
	attempt := 0
	err := transitions.UpdateAll(ctx, a.Store, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		if _, err := lifecycle.ApplyCluster(c, lifecycle.PrepareCluster, transitions.ClusterFacts(c, hosts, tx), tx); err != nil {
			return model.Conflictf("cluster %s cannot be installed: require status ready, found %s (%s)", c.Name, c.Status, c.StatusInfo)
		}
		attempt = c.InstallAttempt
		return nil
	})
	return attempt, err
}

// InstallHost takes the command to install a host into its existing cluster: the host is
// installing from here on, and its workflow will be started, by this process or by
// another one after a crash. It returns the number of the attempt, or an ErrConflict
// that says why not.
func (a Acceptance) InstallHost(ctx context.Context, infraEnvID, id uuid.UUID) (attempt int, err error) {
	h, err := a.Store.Host(ctx, infraEnvID, id)
	if err != nil {
		return 0, err
	}
	if h.ClusterID == nil || !h.DayTwo() {
		return 0, model.Conflictf("host %s cannot be installed by itself: "+
			"require a host added to an existing cluster, found kind %s and status %s",
			h.Hostname(), h.Kind, h.Status)
	}
	if err := a.Evaluation.RefreshCluster(ctx, *h.ClusterID); err != nil {
		return 0, err
	}
	err = transitions.UpdateHost(ctx, a.Store, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if _, err := lifecycle.ApplyHost(h, lifecycle.InstallHost, transitions.HostFacts(h, nil, tx), tx); err != nil {
			return model.Conflictf("host %s cannot be installed: require status known, found %s (%s)", h.Hostname(), h.Status, h.StatusInfo)
		}
		if h.Role == model.RoleAutoAssign {
			h.Role, h.AutoRole = h.EffectiveRole(), true
		}
		if h.Role == model.RoleAutoAssign {
			h.Role = model.RoleWorker
		}
		h.Images, h.Stage, h.Progress = nil, "", model.HostProgress{}
		h.Attempt, h.DecisionOpen = 0, false
		h.WorkflowAttempt++
		h.PendingWorkflow = model.WorkflowAdd
		attempt = h.WorkflowAttempt
		tx.Event(events.New(events.HostInstallationStarted, lifecycle.AboutHost(h), nil, tx.Now()))
		return nil
	})
	return attempt, err
}

// Reclaim returns a host from its cluster to its InfraEnv. An installed host fetches the discovery image
// itself: then attempt is the number of the workflow that will be started, else zero. An
// ErrConflict says why not.
func (a Acceptance) Reclaim(ctx context.Context, infraEnvID, id uuid.UUID) (attempt int, err error) {
	env, err := a.Store.InfraEnv(ctx, infraEnvID)
	if err != nil {
		return 0, err
	}
	if env.ClusterID != nil {
		return 0, model.Conflictf("infra-env %s belongs to cluster %s: require one without a cluster to take hosts back", env.Name, env.ClusterID)
	}
	h, err := a.Store.Host(ctx, infraEnvID, id)
	if err != nil {
		return 0, err
	}
	err = a.Store.UpdateHostOf(ctx, h.ClusterID, infraEnvID, id, func(c *model.Cluster, h *model.Host, tx *store.Tx) error {
		if c == nil || h.ClusterID == nil || *h.ClusterID != c.ID {
			return model.Conflictf("host %s cannot be reclaimed: require a host of a cluster, found status %s", h.Hostname(), h.Status)
		}
		if c.InstallationRuns() {
			return model.Conflictf("host %s cannot be reclaimed while cluster %s is %s: cancel the installation first",
				h.Hostname(), c.Name, c.Status)
		}
		next, err := lifecycle.ApplyHost(h, lifecycle.ReclaimHost, transitions.HostFacts(h, nil, tx), tx)
		if err != nil {
			return model.Conflictf("host %s cannot be reclaimed: "+
				"require one that is installed, failed or not yet in an installation, found status %s",
				h.Hostname(), h.Status)
		}
		tx.SupersedeHost(h)
		tx.HostsChanged(c.ID)
		attempt = 0
		if next.To == model.HostReclaiming {
			h.WorkflowAttempt++
			h.PendingWorkflow, attempt = model.WorkflowReclaim, h.WorkflowAttempt
		}
		h.FormerClusterID = &c.ID
		tx.Refresh(nil, infraEnvID)
		return nil
	})
	return attempt, err
}

// approvalLife is how long a host is approved: a machine takes some minutes to boot.
const approvalLife = time.Hour

// Approve lets the next machine that registers as a host take its place, within an hour, though the agent of the host is heard and the
// machine does not prove to be it. An ErrConflict says why not.
func (a Acceptance) Approve(ctx context.Context, infraEnvID, id uuid.UUID) error {
	_, err := a.Store.UpdateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if lifecycle.HostsUnderInstallation.Has(h.Status) || lifecycle.InstalledHosts.Has(h.Status) {
			return model.Conflictf("host %s cannot be approved: require one that is neither installed nor being installed, found status %s; "+
				"reset its cluster or reclaim it first", h.Hostname(), h.Status)
		}
		h.ApprovedUntil = tx.Now().Add(approvalLife)
		tx.Event(events.New(events.HostApproved, lifecycle.AboutHost(h),
			events.Props{"until": h.ApprovedUntil.UTC().Format(time.RFC3339)}, tx.Now()))
		return nil
	})
	return err
}

// CheckHostReset says whether a host of an existing cluster can be reset; an ErrConflict
// says why not.
func (a Acceptance) CheckHostReset(h *model.Host) error {
	_, err := lifecycle.NextHost(lifecycle.ResetHost, h.Status, lifecycle.NewHostFacts(lifecycle.HostInput{Host: h}))
	if err != nil {
		return model.Conflictf("host %s cannot be reset: require a host of a cluster, found status %s", h.Hostname(), h.Status)
	}
	return nil
}

// Continue writes down that another workflow continues an attempt to install a cluster, because its own was lost. It is false
// when the attempt is over by now.
func (a Acceptance) Continue(ctx context.Context, id uuid.UUID, attempt int, reason string) (underWay bool, err error) {
	err = transitions.UpdateCluster(ctx, a.Store, id, func(c *model.Cluster, tx *store.Tx) error {
		underWay = c.InstallationRuns() && c.InstallAttempt == attempt && c.WorkflowStarted
		if underWay {
			tx.Event(events.New(events.InstallationContinued, lifecycle.AboutCluster(c), events.Props{"reason": reason}, tx.Now()))
		}
		return nil
	})
	return underWay, err
}
