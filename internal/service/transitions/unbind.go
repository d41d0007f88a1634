package transitions

import (
	"fmt"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// Unbind takes a host out of its cluster, back to the pool of its InfraEnv. Its agent registers again; a host that was
// being installed has to be booted from the discovery image. It returns an ErrConflict in any other status.
func Unbind(h *model.Host, rec lifecycle.Recorder, tx *store.Tx) error {
	about := lifecycle.AboutHost(h) // it leaves the cluster
	facts := lifecycle.NewHostFacts(lifecycle.HostInput{Host: h, Now: tx.Now()})
	if _, err := lifecycle.ApplyHost(h, lifecycle.UnbindHost, facts, rec); err != nil {
		return err
	}
	rec.Event(events.New(events.HostUnbindSucceeded, about, nil, tx.Now()))
	tx.SupersedeHost(h)
	tx.WakeHosts(h.ID)
	tx.Refresh(nil, h.InfraEnvID)
	return nil
}

// UnbindAll unbinds the borrowed hosts of a cluster that is deleted.
func UnbindAll(borrowed []*model.Host, rec lifecycle.Recorder, tx *store.Tx) error {
	for _, h := range borrowed {
		if err := Unbind(h, rec, tx); err != nil {
			return fmt.Errorf("unbind host %s: %w", h.ID, err)
		}
	}
	return nil
}
