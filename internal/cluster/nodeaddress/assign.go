package nodeaddress

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// maxTries bounds the search for consistent addresses. Hosts with the same networks need one try for each host.
const maxTries = 100_000

// choice is a host with the addresses it could have, best first.
type choice struct {
	id       uuid.UUID
	eligible []address
	networks []netip.Prefix // all networks of the family
}

// assign chooses the address of each host, of the cluster's primary family; nil when no choice is consistent.
// A host that others do not reach, or that has no default route, is left out.
func assign(c *model.Cluster, hosts []*model.Host) map[uuid.UUID]address {
	is4 := familiesOf(c)[0]
	sorted := slices.Clone(hosts)
	slices.SortStableFunc(sorted, func(a, b *model.Host) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), bytes.Compare(a.ID[:], b.ID[:]))
	})
	var choices []choice
	for _, h := range sorted {
		if ch := choiceOf(c, h, is4); len(ch.eligible) > 0 {
			choices = append(choices, ch)
		}
	}
	s := search{choices: choices, taken: make([]address, len(choices)), tries: maxTries}
	if !s.from(0) {
		return nil
	}
	out := map[uuid.UUID]address{}
	for i, ch := range choices {
		out[ch.id] = s.taken[i]
	}
	return out
}

// rank orders hosts by whose address matters more.
func rank(h *model.Host) int {
	switch role := h.EffectiveRole(); {
	case h.Bootstrap:
		return 0
	case role == model.RoleMaster:
		return 1
	case role == model.RoleArbiter:
		return 2
	}
	return 3
}

func choiceOf(c *model.Cluster, h *model.Host, is4 bool) choice {
	ch := choice{id: h.ID}
	all := addressesOf(h)
	for _, a := range all {
		if a.prefix.Addr().Is4() == is4 {
			ch.networks = append(ch.networks, a.prefix.Masked())
		}
	}
	reached := func(a address) bool {
		return slices.Contains(c.Connectivity.L3ConnectedAddresses[h.ID], a.prefix.Addr().String())
	}
	candidates := routed(h, is4)
	if len(c.MachineNetworks) > 0 {
		candidates = inNetworks(c.MachineNetworks, candidates, all)
	}
	for _, a := range candidates {
		if reached(a) {
			ch.eligible = append(ch.eligible, a)
		}
	}
	return ch
}

// inNetworks lists the addresses in machine networks of the user, by network in their order, and in each first the addresses with a
// default route.
func inNetworks(networks []netip.Prefix, preferred, all []address) []address {
	var out []address
	for _, n := range networks {
		for _, a := range slices.Concat(preferred, all) {
			known := slices.ContainsFunc(out, func(o address) bool { return o.prefix == a.prefix })
			if n.Contains(a.prefix.Addr()) && !known {
				out = append(out, a)
			}
		}
	}
	return out
}

// search finds a consistent choice, the better addresses of the first hosts before the addresses of later hosts.
type search struct {
	choices []choice
	taken   []address
	tries   int
}

func (s *search) from(i int) bool {
	if i == len(s.choices) {
		return true
	}
	for _, a := range s.choices[i].eligible {
		if s.tries--; s.tries < 0 {
			return false
		}
		s.taken[i] = a
		if s.fits(i) && s.from(i+1) {
			return true
		}
	}
	return false
}

// fits reports whether the address of a host is consistent with the addresses of the hosts before it.
func (s *search) fits(i int) bool {
	for j := range i {
		if s.astray(i, j) || s.astray(j, i) {
			return false
		}
	}
	return true
}

// astray reports whether a host would reach the address of another from a network that its own address is not in.
func (s *search) astray(from, to int) bool {
	for _, n := range s.choices[from].networks {
		if n.Contains(s.taken[to].prefix.Addr()) && !n.Contains(s.taken[from].prefix.Addr()) {
			return true
		}
	}
	return false
}
