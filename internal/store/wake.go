package store

import "slipway/internal/model"

// WakeHost has a held poll of the host look again: what the host is to do changed, but
// no instruction waits for it.
func (t *Tx) WakeHost(h *model.Host) { t.notify(channelHosts, h.ID.String()) }
