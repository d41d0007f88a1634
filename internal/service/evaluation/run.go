package evaluation

import (
	"context"
	"errors"
	"sync"
	"time"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

const (
	// refreshWorkers is how many clusters a process evaluates at the same time.
	refreshWorkers = 2
	// An evaluation is followed by a pause of restShare times its own duration, so that a cluster that changes all the time takes a tenth
	// of one core at most; minRest gathers simultaneous changes, maxRest bounds the age of an evaluation.
	restShare = 10
	minRest   = 200 * time.Millisecond
	maxRest   = 20 * time.Second
	// refreshLease is after how long the evaluation of a process that died is taken over.
	refreshLease = time.Minute
	// withoutSignals is how often marks are looked for when there are no signals to come.
	withoutSignals = 250 * time.Millisecond
	// afterError is the pause after the database did not answer.
	afterError = time.Second
)

// Run evaluates marked subjects, and marks the clusters and InfraEnvs of silent hosts, until ctx ends.
func (e *Evaluator) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { e.sweepUntil(ctx) })
	wg.Go(func() { e.refreshUntil(ctx) })
	wg.Wait()
}

// refresher takes marks one by one and evaluates them beside each other.
type refresher struct {
	*Evaluator
	slots chan struct{}
	again chan struct{} // a mark became due without a signal
	wg    sync.WaitGroup
}

func (e *Evaluator) refreshUntil(ctx context.Context) {
	r := &refresher{Evaluator: e, slots: make(chan struct{}, refreshWorkers), again: make(chan struct{}, 1)}
	defer r.wg.Wait()
	for {
		select {
		case r.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		p, ok, err := e.store.ClaimRefresh(ctx, refreshLease)
		if ok && err == nil {
			r.wg.Go(func() { r.evaluate(ctx, p) })
			continue
		}
		<-r.slots
		if err != nil && ctx.Err() == nil {
			e.log.Warn("marks could not be read", "error", err)
		}
		if !r.wait(ctx, err != nil) {
			return
		}
	}
}

// wait returns when a mark may be due; false when ctx has ended.
func (r *refresher) wait(ctx context.Context, failed bool) bool {
	limit := r.options.LookEvery
	var signal <-chan struct{}
	switch {
	case failed:
		limit = afterError
	case r.signals == nil:
		limit = withoutSignals
	default:
		signal = r.signals.Refreshes()
		if next, ok, err := r.store.NextRefresh(ctx); err == nil && ok {
			limit = min(limit, max(next.Sub(r.now()), 0))
		}
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-signal:
	case <-r.again:
	case <-timer.C:
	}
	return true
}

// evaluate carries one claim out. The claim is kept while it rests: changes meanwhile
// are gathered for the next one.
func (r *refresher) evaluate(ctx context.Context, p store.RefreshMark) {
	begun := r.now()
	var err error
	if !p.Evaluated() {
		err = r.refresh(ctx, p)
	}
	rest := min(max(restShare*r.now().Sub(begun), minRest), maxRest)
	<-r.slots
	if err != nil && !errors.Is(err, model.ErrNotFound) && ctx.Err() == nil {
		r.log.Warn("evaluation failed", "subject", p.SubjectID, "cluster", p.Cluster, "error", err)
		r.markAgain(ctx, p)
	}
	pause(ctx, rest)
	r.finish(ctx, p)
}

// markAgain makes an evaluation that failed come up again.
func (r *refresher) markAgain(ctx context.Context, p store.RefreshMark) {
	err := r.store.Write(ctx, func(t *store.Tx) error {
		if p.Cluster {
			t.RefreshCluster(p.SubjectID)
		} else {
			t.Refresh(nil, p.SubjectID)
		}
		return nil
	})
	if err != nil {
		r.log.Warn("evaluation was not marked again, its lease will end", "subject", p.SubjectID, "error", err)
	}
}

// pause returns after a duration, or when ctx has ended.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (r *refresher) finish(ctx context.Context, p store.RefreshMark) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshLease)
	defer cancel()
	if err := r.store.FinishRefresh(ctx, p, r.now()); err != nil {
		r.log.Warn("evaluation was not finished, its lease will end", "subject", p.SubjectID, "error", err)
	}
	select {
	case r.again <- struct{}{}:
	default:
	}
}
