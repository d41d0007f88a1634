package discovery

import (
	"crypto/rand"
	"log/slog"
	"time"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/platform/programsig"
	"slipway/internal/platform/store"
	"slipway/internal/service/evaluation"
	"slipway/internal/service/quota"
	"slipway/internal/wire"
)

// Options configure a Service.
type Options struct {
	Store      *store.Store
	Evaluation *evaluation.Evaluator
	// Signals wakes held polls; nil answers every poll at once.
	Signals  *store.Signals
	Log      *slog.Logger
	Now      func() time.Time
	Timeouts lifecycle.Timeouts
	// AgentImage is the image of the agents of other implementations.
	AgentImage string
	// AgentPrograms are the programs of the agent that hosts upgrade to, for each architecture.
	AgentPrograms func() (map[string]wire.AgentProgram, error)
	// Signer signs them for each host.
	Signer programsig.Signer
	// Meter, if set, receives measurements of work done.
	Meter Meter
	// MaxInventoryBytes limits inventories; zero does not.
	MaxInventoryBytes int64
	// Quota bounds how many bytes are kept; nil: any number.
	Quota *quota.Quota
	// MaxHosts is how many hosts an InfraEnv takes; zero: any number.
	MaxHosts int
	// NewHosts is how many hosts of an InfraEnv may register for the first time within a minute; zero: any number.
	NewHosts int
	// KeepVirtualNICs keeps interfaces of type "device" in inventories.
	KeepVirtualNICs bool
}

// Meter counts work.
type Meter interface {
	// Polled records how many steps a poll returned.
	Polled(steps int)
}

// unmetered is a Meter that counts nothing.
type unmetered struct{}

func (unmetered) Polled(int) {}

// Service serves agents. It is safe for concurrent use.
type Service struct {
	store      *store.Store
	evaluation *evaluation.Evaluator
	due        *evaluation.Due
	signals    *store.Signals
	log        *slog.Logger
	now        func() time.Time
	timeouts   lifecycle.Timeouts
	options    Options
	checkIns   checkIns
	salt       string // of digests: another process may read the same replies in another way
	lastRead   digests
}

// New returns a Service.
func New(o Options) *Service {
	if o.Meter == nil {
		o.Meter = unmetered{}
	}
	return &Service{
		store: o.Store, evaluation: o.Evaluation, due: o.Evaluation.Due, signals: o.Signals, log: o.Log, now: o.Now,
		timeouts: o.Timeouts, options: o, checkIns: checkIns{store: o.Store, log: o.Log}, salt: rand.Text(),
	}
}
