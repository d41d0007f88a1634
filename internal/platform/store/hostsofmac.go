package store

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// HostsOfMAC reads the hosts of a discovery environment that have an interface with this
// MAC address, the last registered one first.
func (s *Store) HostsOfMAC(ctx context.Context, infraEnvID uuid.UUID, mac string) ([]*model.Host, error) {
	var out []*model.Host
	err := s.Hosts(ctx, HostFilter{InfraEnvID: infraEnvID}, func(h *model.Host) error {
		has := func(nic wire.Interface) bool { return strings.EqualFold(nic.MacAddress, mac) }
		if h.Inventory != nil && slices.ContainsFunc(h.Inventory.Interfaces, has) {
			out = append(out, h)
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b *model.Host) int { return b.RegisteredAt.Compare(a.RegisteredAt) })
	return out, err
}
