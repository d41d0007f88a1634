package installation

import (
	"cmp"
	"slices"

	"slipway/internal/model"
)

// planOrder sorts hosts the way a plan lists them: bootstrap, masters, arbiters,
// workers, each by name.
func planOrder(hosts []*model.Host) []*model.Host {
	rank := func(h *model.Host) int {
		switch {
		case h.Bootstrap:
			return 0
		case h.Role == model.RoleMaster:
			return 1
		case h.Role == model.RoleArbiter:
			return 2
		}
		return 3
	}
	sorted := slices.Clone(hosts)
	slices.SortStableFunc(sorted, func(a, b *model.Host) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Hostname(), b.Hostname()), slices.Compare(a.ID[:], b.ID[:]))
	})
	return sorted
}
