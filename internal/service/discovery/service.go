package discovery

import (
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// Options are what a Service works with.
type Options struct {
	Store *store.Store
	// Signals wakes held polls and the refresher; nil answers every poll at once and
	// looks for marked clusters by the clock.
	Signals *store.Signals
	Log     *slog.Logger
	Now     func() time.Time
	// Requirements gives the hardware an OpenShift version needs; nil takes the shipped ones.
	Requirements func(version string) model.RoleRequirements
	Timeouts     lifecycle.Timeouts
	// AgentImage is what agents of other implementations must run, compared as it is; empty takes any.
	AgentImage string
	// Agent is what agents of ours must be; the zero value takes any.
	Agent AgentRelease
	// Meter, if set, receives measurements of work done.
	Meter Meter
	// MaxInventoryBytes limits inventories; zero does not.
	MaxInventoryBytes int64
	// MaxHosts is how many hosts an InfraEnv takes; zero: any number.
	MaxHosts int
	// SweepEvery is how often hosts that fell silent are looked for, at most, and LookEvery
	// how often clusters to evaluate are without a signal; zero: DefaultSweepEvery and
	// DefaultLookEvery.
	SweepEvery, LookEvery time.Duration
	// ReaderPatience is how long a reader waits for the evaluation of what it reads; zero: DefaultReaderPatience.
	ReaderPatience time.Duration
	// DisabledSteps are never asked of hosts.
	DisabledSteps []string
	// Rules are the settings of validations; nil: the default ones. Their time-outs and
	// required agents are those of Timeouts, AgentImage and Agent.
	Rules *validation.Options
	// KeepVirtualNICs keeps interfaces of type "device" in inventories.
	KeepVirtualNICs bool
}

// Meter counts work.
type Meter interface {
	// Polled records how many steps a poll returned.
	Polled(steps int)
	// Evaluated records how long an evaluation took.
	Evaluated(took time.Duration)
}

// unmetered is a Meter that counts nothing.
type unmetered struct{}

func (unmetered) Polled(int)              {}
func (unmetered) Evaluated(time.Duration) {}

// Service is discovery. It is safe for concurrent use.
type Service struct {
	store        *store.Store
	signals      *store.Signals
	log          *slog.Logger
	now          func() time.Time
	requirements func(version string) model.RoleRequirements
	timeouts     lifecycle.Timeouts
	rules        validation.Options
	options      Options
	// started is when this process began to listen: silence before it says nothing about
	// a host.
	started  time.Time
	peers    peerCache
	checkIns checkIns
	readers  singleflight.Group // evaluations that readers wait for, by subject
}

// New makes a Service.
func New(o Options) *Service {
	if o.Requirements == nil {
		o.Requirements = openshift.RequirementsFor
	}
	rules := validation.DefaultOptions()
	if o.Rules != nil {
		rules = *o.Rules
	}
	rules.DisconnectAfter, rules.BootstrapGrace = o.Timeouts.Disconnect, o.Timeouts.BootstrapGrace
	rules.RequiredAgent, rules.RequiredFineAgent = o.AgentImage, o.Agent.Version
	rules.VIPLease = o.Timeouts.VIPLease
	if o.Meter == nil {
		o.Meter = unmetered{}
	}
	if o.SweepEvery == 0 {
		o.SweepEvery = DefaultSweepEvery
	}
	if o.LookEvery == 0 {
		o.LookEvery = DefaultLookEvery
	}
	if o.ReaderPatience == 0 {
		o.ReaderPatience = DefaultReaderPatience
	}
	return &Service{
		store: o.Store, signals: o.Signals, log: o.Log, now: o.Now, requirements: o.Requirements,
		timeouts: o.Timeouts, rules: rules, options: o, started: o.Now(),
		checkIns: checkIns{store: o.Store, log: o.Log},
	}
}
