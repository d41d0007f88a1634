package evaluation

import (
	"context"
	"errors"
	"time"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

const (
	// readersHosts is the size up to which a cluster is evaluated before it is read: it takes 20 ms at most. Changes of larger clusters
	// are gathered (see Run).
	readersHosts = 50
	// readersMarks and Options.ReaderPatience limit the evaluations for one reader of many clusters.
	readersMarks = 100
	// readersRounds is how often a reader waits for changes that others make meanwhile.
	readersRounds = 3
)

// DefaultReaderPatience is how long an answer waits for an evaluation; after it the answer shows the last evaluation.
const DefaultReaderPatience = time.Second

// BringUpToDate evaluates the objects about to be read that changed since their last evaluation, so that no answer shows a status or
// validations from before an acknowledged change. Clusters of more than 50 hosts are left to Run.
func (e *Evaluator) BringUpToDate(ctx context.Context, reading store.Reading) error {
	ctx, cancel := context.WithTimeout(ctx, e.options.ReaderPatience)
	defer cancel()
	for range readersRounds {
		marks, err := e.store.Behind(ctx, reading, readersHosts, readersMarks)
		if err != nil {
			return err
		}
		if len(marks) == 0 {
			return nil
		}
		for _, mark := range marks {
			if err := e.refreshForReaders(ctx, mark); err != nil {
				return err
			}
		}
	}
	return nil
}

// refreshForReaders evaluates once for all who wait for it. One that began before a reader's change is followed by another
// (see BringUpToDate).
func (e *Evaluator) refreshForReaders(ctx context.Context, mark store.RefreshMark) error {
	done := e.readers.DoChan(mark.SubjectID.String(), func() (any, error) {
		return nil, e.refresh(context.WithoutCancel(ctx), mark)
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case result := <-done:
		if errors.Is(result.Err, model.ErrNotFound) {
			return nil // deleted meanwhile
		}
		return result.Err
	}
}

// refresh evaluates the subject of a mark.
func (e *Evaluator) refresh(ctx context.Context, mark store.RefreshMark) error {
	begun := e.now()
	defer func() { e.options.Meter.Evaluated(e.now().Sub(begun)) }()
	if mark.Cluster {
		return e.RefreshCluster(ctx, mark.SubjectID)
	}
	return e.RefreshInfraEnv(ctx, mark.SubjectID)
}
