// Package evaluation keeps the conclusions about clusters and hosts up to date: which disks fit, networks, roles, every validation, and
// the rows of the status tables that follow from facts and time.
//
// A writer of a fact leaves a mark on the cluster or InfraEnv in the same transaction. Run evaluates marked subjects, once for many
// marks, and not more often than their size allows; BringUpToDate does so for a reader that does not wait.
package evaluation

import (
	"cmp"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// Options configure an Evaluator.
type Options struct {
	Store *store.Store
	// Signals wakes Run; nil looks for marks by the clock.
	Signals *store.Signals
	Log     *slog.Logger
	Now     func() time.Time
	// Requirements gives the hardware an OpenShift version needs; nil takes the shipped ones.
	Requirements func(version string) model.RoleRequirements
	Timeouts     lifecycle.Timeouts
	// Rules are the settings of validations; nil: the default ones. Their time-outs and
	// required agents come from Timeouts, AgentImage and AgentVersion.
	Rules *validation.Options
	// AgentImage is the image that agents of other implementations must run, compared byte for byte; empty takes any.
	AgentImage string
	// AgentVersion is the version that agents of Slipway must have; empty takes any.
	AgentVersion string
	// DisabledSteps are never asked of hosts.
	DisabledSteps []string
	// Meter, if set, receives measurements of work done.
	Meter Meter
	// SweepEvery is how often hosts that fell silent are looked for, at most, and LookEvery
	// how often clusters to evaluate are without a signal; zero: lifecycle.DefaultHostMonitor and
	// lifecycle.DefaultClusterMonitor.
	SweepEvery, LookEvery time.Duration
	// ReaderPatience is how long a reader waits for an evaluation; zero: DefaultReaderPatience.
	ReaderPatience time.Duration
}

// Meter measures work.
type Meter interface {
	// Evaluated records how long an evaluation took.
	Evaluated(took time.Duration)
}

// unmetered is a Meter that counts nothing.
type unmetered struct{}

func (unmetered) Evaluated(time.Duration) {}

// Evaluator evaluates clusters and hosts. It is safe for concurrent use.
type Evaluator struct {
	// Due decides which steps hosts are asked.
	Due          *Due
	store        *store.Store
	signals      *store.Signals
	log          *slog.Logger
	now          func() time.Time
	requirements func(version string) model.RoleRequirements
	timeouts     lifecycle.Timeouts
	rules        validation.Options
	options      Options
	// started is when this process began to listen: earlier silence of a host does not count.
	started time.Time
	readers singleflight.Group // evaluations that readers wait for, by subject
}

// New returns an Evaluator.
func New(o Options) *Evaluator {
	if o.Requirements == nil {
		o.Requirements = openshift.RequirementsFor
	}
	rules := validation.DefaultOptions()
	if o.Rules != nil {
		rules = *o.Rules
	}
	rules.DisconnectAfter, rules.BootstrapGrace = o.Timeouts.Disconnect, o.Timeouts.BootstrapGrace
	rules.RequiredAgent, rules.RequiredFineAgent = o.AgentImage, o.AgentVersion
	rules.VIPLease = o.Timeouts.VIPLease
	if o.Meter == nil {
		o.Meter = unmetered{}
	}
	o.SweepEvery = cmp.Or(o.SweepEvery, lifecycle.DefaultHostMonitor)
	o.LookEvery = cmp.Or(o.LookEvery, lifecycle.DefaultClusterMonitor)
	o.ReaderPatience = cmp.Or(o.ReaderPatience, DefaultReaderPatience)
	return &Evaluator{
		Due:   &Due{store: o.Store, disabled: o.DisabledSteps, agentImage: o.AgentImage, agentVersion: o.AgentVersion},
		store: o.Store, signals: o.Signals, log: o.Log, now: o.Now, requirements: o.Requirements,
		timeouts: o.Timeouts, rules: rules, options: o, started: o.Now(),
	}
}
