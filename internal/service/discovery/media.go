package discovery

import (
	"context"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
	"slipway/internal/wire"
)

// mediaGone handles a host that cannot read its discovery media any more (rows
// MediaDisconnect of the host tables). In a state without a row only the media status
// changes: the host runs from its disk.
func (s *Service) mediaGone(ctx context.Context, infraEnvID, hostID uuid.UUID, r wire.StepReply) error {
	status := model.ClusterStatus("")
	h, err := s.store.Host(ctx, infraEnvID, hostID)
	if err != nil {
		return err
	}
	if h.ClusterID != nil {
		c, err := s.store.Cluster(ctx, *h.ClusterID)
		if err != nil {
			return err
		}
		status = c.Status
	}
	_, err = s.store.UpdateHost(ctx, infraEnvID, hostID, func(h *model.Host, t *store.Tx) error {
		handOn(h, r, nil, t)
		if h.MediaStatus == model.MediaDisconnected {
			return nil
		}
		h.MediaStatus = model.MediaDisconnected
		t.Event(events.New(events.HostMediaDisconnected, lifecycle.AboutHost(h), nil, t.Now()))
		t.Refresh(h.ClusterID, h.InfraEnvID)
		facts := lifecycle.NewHostFacts(lifecycle.HostInput{Host: h, Timeouts: s.timeouts, Now: t.Now()})
		tr, err := lifecycle.ApplyHost(h, lifecycle.MediaDisconnect, facts, t)
		if err != nil {
			return nil //nolint:nilerr // no row: the media is not needed in this state
		}
		if tr.Effect == lifecycle.EffectFailed && tr.From != model.HostError { // its workflow knows, or has ended
			transitions.Failed(h, status, exitMediaGone, tr.StatusInfo, t)
		}
		return nil
	})
	return err
}

// mediaBack restores the media status: a step that succeeded was read from the media.
func mediaBack(h *model.Host, r wire.StepReply) bool {
	if r.ExitCode != 0 || h.MediaStatus != model.MediaDisconnected {
		return false
	}
	h.MediaStatus = model.MediaConnected
	return true
}
