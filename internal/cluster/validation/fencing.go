package validation

import "slipway/internal/model"

// Fenced reports whether every control plane host among hosts has fencing credentials:
// two of them can then do without an arbiter.
func Fenced(hosts []*model.Host) bool {
	fenced := false
	for _, h := range hosts {
		if h.EffectiveRole() != model.RoleMaster {
			continue
		}
		if h.Fencing == nil {
			return false
		}
		fenced = true
	}
	return fenced
}
