// Package orchestrator is the bridge between the database and Temporal: commands of
// users become updates of workflows, and what hosts reported becomes results of
// activities. Everything it does can be done again by another process.
package orchestrator

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// Accepts writes commands of users to the database, see Acceptance.
type Accepts interface {
	Install(ctx context.Context, id uuid.UUID) (attempt int, err error)
	InstallHost(ctx context.Context, infraEnvID, id uuid.UUID) (attempt int, err error)
	Reclaim(ctx context.Context, infraEnvID, id uuid.UUID) (attempt int, err error)
	Approve(ctx context.Context, infraEnvID, id uuid.UUID) error
	CheckHostReset(h *model.Host) error
	Continue(ctx context.Context, id uuid.UUID, attempt int, reason string) (underWay bool, err error)
}

// Milestones finishes the milestones of a cluster that are reached.
type Milestones interface {
	CheckMilestones(ctx context.Context, id uuid.UUID) error
}

// Options are the dependencies of an Orchestrator.
type Options struct {
	Temporal   client.Client
	Namespace  string // of the workflows, in Temporal
	Store      *store.Store
	Signals    *store.Signals
	Acceptance Accepts
	Milestones Milestones
	Timeouts   activities.Timeouts
	Converter  converter.DataConverter // the one Temporal was dialled with
	Log        *slog.Logger
	// Alive is how lately a host must have polled for its steps to be kept alive.
	Alive time.Duration // 0: one minute
}

// Orchestrator is safe for concurrent use; any number may run on one database.
type Orchestrator struct {
	Options
	done  map[string]int     // installed hosts whose workflows completed, by workflow id: the attempt of their cluster; of one goroutine
	tries map[string]*tries  // restarts, by workflow id; of one goroutine
	stray map[string]*stray  // workflows of installations that are over, by id; of one goroutine
	over  map[uuid.UUID]bool // clusters whose installation is over, and has no workflow; of one goroutine
}

// New makes an Orchestrator; Run does its background work.
func New(o Options) *Orchestrator {
	if o.Alive == 0 {
		o.Alive = time.Minute
	}
	return &Orchestrator{Options: o, done: map[string]int{}, tries: map[string]*tries{}, over: map[uuid.UUID]bool{}}
}

// sweepEvery is how often work is looked for that no signal announced; rows and Temporal's executions are compared less often.
const (
	sweepEvery     = 5 * time.Second
	reconcileEvery = 10 * time.Second
)

// Run forwards results, keeps pending activities alive, and starts accepted work, until ctx ends.
func (o *Orchestrator) Run(ctx context.Context) {
	var group sync.WaitGroup
	for range forwarders {
		group.Go(func() { o.loop(ctx, sweepEvery, o.Signals.Reported(), "forward results", o.forwardAll) })
	}
	group.Go(func() { o.loop(ctx, sweepEvery, nil, "start installations", o.startAccepted) })
	group.Go(func() { o.loop(ctx, sweepEvery, nil, "keep pending activities alive", o.beat) })
	group.Go(func() { o.loop(ctx, sweepEvery, nil, "check milestones", o.checkMilestones) })
	group.Go(func() { o.loop(ctx, reconcileEvery, nil, "look for lost workflows", o.reconcile) })
	group.Wait()
}

// loop runs work when woken and at every sweep; an error is logged and tried again.
func (o *Orchestrator) loop(
	ctx context.Context, every time.Duration, wake <-chan struct{}, what string, work func(context.Context) error,
) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if err := work(ctx); err != nil && ctx.Err() == nil {
			o.Log.Warn("background work stopped short", "work", what, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-ticker.C:
		}
	}
}

// checkMilestones finishes milestones whose condition was met meanwhile.
func (o *Orchestrator) checkMilestones(ctx context.Context) error {
	clusters, err := o.Store.OpenMilestones(ctx)
	if err != nil {
		return err
	}
	for _, id := range clusters {
		if err := o.Milestones.CheckMilestones(ctx, id); err != nil {
			return err
		}
	}
	return nil
}
