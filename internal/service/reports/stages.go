package reports

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
)

// Hosts records reports about the installation of hosts. It is safe for concurrent use.
type Hosts struct {
	Store    *store.Store
	Timeouts lifecycle.Timeouts
}

// exitStageFailed ends the steps of a host whose installer reports the stage Failed.
const exitStageFailed = 1

// Stage records a stage of a host, reported by itself, by the bootstrap host or by
// the controller. info has details ("42%"). A stage the host has passed already, or does
// not pass at all, changes nothing. It returns an ErrInvalid for an unknown stage and an
// ErrConflict for a host that is not being installed.
func (r Hosts) Stage(ctx context.Context, infraEnvID, hostID uuid.UUID, stage model.Stage, info string) error {
	return r.stage(ctx, infraEnvID, hostID, stage, func(h *model.Host, c *model.Cluster, t *store.Tx) error {
		switch {
		case stage == model.StageFailed:
			return r.installationFailed(h, c, info, t)
		case stage == model.StageRebooting && h.DayTwo() && h.AgentSteps == model.InstallStep:
			return r.progressed(h, c, model.StageDone, info, t) // the last word of its agent
		}
		return r.progressed(h, c, stage, info, t)
	})
}

// WorkflowStage records a stage that a workflow shows. The error of fence refuses it: it is asked in the transaction that writes the
// stage. It returns the errors of Stage as well.
func (r Hosts) WorkflowStage(
	ctx context.Context, infraEnvID, hostID uuid.UUID, stage model.Stage, fence func(*model.Cluster, *model.Host) error,
) error {
	return r.stage(ctx, infraEnvID, hostID, stage, func(h *model.Host, c *model.Cluster, t *store.Tx) error {
		if err := fence(c, h); err != nil {
			return err
		}
		return r.progressed(h, c, stage, "", t)
	})
}

func (r Hosts) stage(
	ctx context.Context, infraEnvID, hostID uuid.UUID, stage model.Stage, change func(*model.Host, *model.Cluster, *store.Tx) error,
) error {
	if !steps.Reportable(stage) {
		return model.Invalidf("require a host stage of the API, found %q", stage)
	}
	h, err := r.Store.Host(ctx, infraEnvID, hostID)
	if err != nil {
		return err
	}
	if h.ClusterID == nil {
		return model.Conflictf("host %s is in no cluster: it has no installation to report about", hostID)
	}
	c, err := r.Store.Cluster(ctx, *h.ClusterID)
	if err != nil {
		return err
	}
	_, err = r.Store.UpdateHost(ctx, infraEnvID, hostID, func(h *model.Host, t *store.Tx) error { return change(h, c, t) })
	return err
}

func (r Hosts) progressed(h *model.Host, c *model.Cluster, stage model.Stage, info string, t *store.Tx) error {
	single := c.SingleNode()
	passes := steps.StagesFor(h.EffectiveRole(), h.Bootstrap, single)
	at := slices.Index(passes, stage)
	if at < 0 || at < slices.Index(passes, h.Stage) {
		return nil
	}
	facts := lifecycle.NewHostFacts(lifecycle.HostInput{Host: h, Cluster: c, Timeouts: r.Timeouts, Now: t.Now()})
	facts.Stage = stage
	if stage == h.Stage {
		facts.AwaitingRetry = false // a failed host that repeats its stage has not progressed
	}
	tr, err := lifecycle.NextHost(lifecycle.HostProgressed, h.Status, facts)
	if err != nil {
		return err
	}
	if h.Stage == stage && h.Progress.Info == info && h.Status == tr.To {
		return nil
	}
	if h.Stage != stage {
		before := model.Counted{Host: h, Stage: h.Stage, Duration: t.Now().Sub(h.Progress.StageStartedAt)}
		h.Stage, h.Progress.StageStartedAt, h.Progress.StageTimedOut = stage, t.Now(), false
		h.Progress.Percentage = lifecycle.HostPercentage(h, single, stage)
		t.StageReached(h, passes[:at+1], steps.OfInstallation())
		e := events.New(events.HostInstallProgressUpdated, lifecycle.AboutHost(h), events.Props{"event": stageText(stage, info)}, t.Now())
		e.Counted = before
		t.Event(e)
	}
	h.Progress.StageUpdatedAt, h.Progress.Info = t.Now(), info
	t.Refresh(h.ClusterID, h.InfraEnvID)
	_, err = lifecycle.ApplyHost(h, lifecycle.HostProgressed, facts, t)
	return err
}

func stageText(stage model.Stage, info string) string {
	if info == "" {
		return string(stage)
	}
	return string(stage) + ": " + info
}

// installationFailed takes the installer's last word; its steps end with it.
func (r Hosts) installationFailed(h *model.Host, c *model.Cluster, info string, t *store.Tx) error {
	facts := lifecycle.NewHostFacts(lifecycle.HostInput{Host: h, Cluster: c, Timeouts: r.Timeouts, Now: t.Now()})
	facts.Reason = strings.TrimSpace(info)
	if _, err := lifecycle.ApplyHost(h, lifecycle.HostInstallationFailed, facts, t); err != nil {
		return err
	}
	h.Progress.Info, h.Progress.StageUpdatedAt = facts.Reason, t.Now()
	reason := cmp.Or(facts.Reason, h.StatusInfo)
	if h.AgentSteps == model.InstallStep && h.Stage != "" { // its only step has failed in this stage
		reason = string(h.Stage) + ": " + reason
	}
	transitions.Failed(h, c.Status, exitStageFailed, reason, t)
	t.Refresh(h.ClusterID, h.InfraEnvID)
	return nil
}
