package discovery

import (
	"log/slog"
	"time"

	"slipway/internal/lifecycle"
	"slipway/internal/model"
	"slipway/internal/store"
	"slipway/internal/support"
	"slipway/internal/validation"
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
	// AgentImage is the agent every host must run, compared as it is; empty takes any.
	AgentImage string
	// DisabledSteps are never asked of hosts.
	DisabledSteps []string
	// DisabledHostValidations and DisabledClusterValidations are shown as disabled and
	// hold nothing up.
	DisabledHostValidations    []string
	DisabledClusterValidations []string
	// KeepVirtualNICs keeps interfaces of type "device" in inventories.
	KeepVirtualNICs bool
}

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
}

// New makes a Service.
func New(o Options) *Service {
	if o.Requirements == nil {
		o.Requirements = support.RequirementsFor
	}
	rules := validation.DefaultOptions()
	rules.DisconnectAfter, rules.BootstrapGrace = o.Timeouts.Disconnect, o.Timeouts.BootstrapGrace
	rules.RequiredAgent = o.AgentImage
	return &Service{
		store: o.Store, signals: o.Signals, log: o.Log, now: o.Now, requirements: o.Requirements,
		timeouts: o.Timeouts, rules: rules, options: o, started: o.Now(),
		checkIns: checkIns{store: o.Store, log: o.Log},
	}
}
