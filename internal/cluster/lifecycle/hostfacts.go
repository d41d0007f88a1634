package lifecycle

import (
	"time"

	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Outcome is the known result of a check.
type Outcome int

// The outcomes.
const (
	Unknown Outcome = iota
	Passed
	Failed
)

// HostFacts is the input of the conditions in the host table. The zero value is a bound day-1 host without any facts.
type HostFacts struct {
	Now      time.Time
	Timeouts Timeouts

	Unbound bool
	DayTwo  bool
	Role    model.Role // assigned, not suggested
	// Stage is the stage the host is in; for HostProgressed the one it reports.
	Stage model.Stage
	// NoAgent is set when the status says that no agent runs on the host.
	NoAgent bool
	// SilentAfterReboot is set for an agent of another implementation, which installs in one step.
	SilentAfterReboot bool
	// BeganBootstrap is set when the host began a bootstrap and was not booted since.
	BeganBootstrap bool
	Conditions     HostConditions
	DiskSpeed      Outcome
	Images         Outcome
	LogsTimedOut   bool
	// ConnectionTimedOut and StageTimedOut are set when soft time-outs were reported already.
	ConnectionTimedOut bool
	StageTimedOut      bool
	// Tried is set when a workflow has begun to install the host.
	Tried bool
	// InstallationDisk is the path of the disk the host is installed to.
	InstallationDisk string

	// Reason is why the event happened, in words for people; Limit the time that is over; Attempt the number of the attempt that begins.
	// The reporter of the event sets them.
	Reason  string
	Limit   time.Duration
	Attempt int

	// ClusterStatus is empty for unbound hosts.
	ClusterStatus model.ClusterStatus
	// AwaitingRetry is set while the workflow of a failed installation still runs and a
	// failed host may be tried again: the other hosts keep their states meanwhile.
	AwaitingRetry bool
}

// AgentBesideBootstrap reports whether the agent of a host runs in the live image that a bootstrap was begun in.
func (f HostFacts) AgentBesideBootstrap() bool {
	return f.BeganBootstrap && !f.Stage.LeftLiveImage() && !f.NoAgent
}

// HostInput is the input of NewHostFacts.
type HostInput struct {
	Host    *model.Host
	Cluster *model.Cluster // nil while unbound
	Hosts   []*model.Host  // of the cluster
	// Results are the host's current validations; those stored with it when nil.
	Results  []model.ValidationResult
	Timeouts Timeouts
	// AwaitingRetry is set besides when DecisionOpen of one of the hosts is.
	AwaitingRetry bool
	Now           time.Time
}

// NewHostFacts derives the facts of a host from its stored state. For HostProgressed set Stage to the reported one afterwards.
func NewHostFacts(in HostInput) HostFacts {
	h, results := in.Host, in.Results
	if results == nil {
		results = h.Validations
	}
	f := HostFacts{
		Now: in.Now, Timeouts: in.Timeouts.Of(in.Cluster), AwaitingRetry: in.AwaitingRetry || h.DecisionOpen || decisionOpen(in.Hosts),
		Unbound: h.ClusterID == nil, DayTwo: h.DayTwo(),
		Role: h.Role, Stage: h.Stage, NoAgent: withoutAgent.Has(h.Status), BeganBootstrap: h.BeganBootstrap(),
		SilentAfterReboot:  h.AgentSteps == model.InstallStep,
		InstallationDisk:   h.InstallationDiskPath,
		Conditions:         HostConditionsOf(results),
		DiskSpeed:          unlessOff(results, wire.HostValidationIDSufficientInstallationDiskSpeed, diskSpeedOutcome(h)),
		Images:             unlessOff(results, wire.HostValidationIDContainerImagesAvailable, imagesOutcome(h)),
		LogsTimedOut:       HostLogsTimedOut(h, in.Timeouts, in.Now),
		ConnectionTimedOut: h.ConnectionTimedOut, StageTimedOut: h.Progress.StageTimedOut, Tried: h.Attempt > 0,
	}
	if in.Cluster != nil {
		f.ClusterStatus = in.Cluster.Status
	}
	return f
}

// unlessOff treats the check of a rule that is disabled or ignored as passed.
func unlessOff(results []model.ValidationResult, id wire.HostValidationID, found Outcome) Outcome {
	for _, r := range results {
		if r.ID == string(id) && (r.Status == model.ValidationDisabled || r.Ignored) {
			return Passed
		}
	}
	return found
}

func diskSpeedOutcome(h *model.Host) Outcome {
	if hardware.DiskSpeedExempt(h) {
		return Passed
	}
	s, ok := h.DiskSpeed[h.InstallationDiskPath]
	switch {
	case !ok || !s.Tested:
		return Unknown
	case s.ExitCode != 0:
		return Failed
	}
	return Passed
}

func imagesOutcome(h *model.Host) Outcome {
	if len(h.Images) == 0 {
		return Unknown
	}
	out := Passed
	for i := range h.Images {
		switch {
		case h.Images[i].Result == "":
			out = Unknown
		case model.ImageFailed(&h.Images[i]):
			return Failed
		}
	}
	return out
}

// HostLogsTimedOut reports whether logs asked of a host, or begun by it, do not come any more.
func HostLogsTimedOut(h *model.Host, t Timeouts, now time.Time) bool {
	return logsTimedOut(h.LogsInfo, h.LogsStartedAt, t.HostLogPending, t.HostLogCollection, now)
}

// ClusterLogsTimedOut works like HostLogsTimedOut, for the logs of the controller.
func ClusterLogsTimedOut(c *model.Cluster, t Timeouts, now time.Time) bool {
	return logsTimedOut(c.LogsInfo, c.ControllerLogsStartedAt, t.LogPending, t.LogCollection, now)
}

func logsTimedOut(state model.LogsState, since time.Time, pending, collection time.Duration, now time.Time) bool {
	if since.IsZero() {
		return false
	}
	switch state {
	case model.LogsRequested:
		return now.Sub(since) > pending
	case model.LogsCollecting:
		return now.Sub(since) > collection
	}
	return false
}
