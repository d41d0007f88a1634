package reports

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// logsStates lists what a host may report.
var logsStates = []model.LogsState{model.LogsNone, model.LogsRequested, model.LogsCollecting, model.LogsCompleted, model.LogsTimeout}

// Logs records how far the collection of a host's logs is. It returns an
// ErrInvalid for an unknown state.
func (r Hosts) Logs(ctx context.Context, infraEnvID, hostID uuid.UUID, state model.LogsState) error {
	if !slices.Contains(logsStates, state) {
		return model.Invalidf("require a state of a log collection, found %q", state)
	}
	_, err := r.Store.UpdateHost(ctx, infraEnvID, hostID, func(h *model.Host, t *store.Tx) error {
		if h.LogsInfo == state {
			return nil
		}
		h.LogsInfo = state
		switch state {
		case model.LogsRequested:
			h.LogsStartedAt = t.Now()
		case model.LogsCompleted:
			h.LogsCollectedAt = t.Now()
		}
		return nil
	})
	return err
}
