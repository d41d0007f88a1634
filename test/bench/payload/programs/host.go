// Package programs says how the programs of a control plane and of a node are started on
// a host of the bench: their flags, certificates and configuration files.
package programs

import (
	"net/netip"
	"path/filepath"
	"time"

	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/payload/plan"
)

// Host is a host of a cluster.
type Host struct {
	Plan      *plan.Cluster
	Role      string
	Name      string
	Address   netip.Prefix // as a node
	Interface string       // that has the address
	// Programs, Keys, Own and State are the folders of the programs, of the cluster's keys, of the keys made on this host, and of the data
	// that it keeps.
	Programs  string
	Keys, Own pki.Keys
	State     string
	Now       func() time.Time
}

// Command is a program to run, and the files it reads.
type Command struct {
	Argv  []string
	Files map[string][]byte // by path, written before
}

// Endpoint returns a URL of a server on this host.
func (h *Host) Endpoint(port uint16) string {
	return "https://" + netip.AddrPortFrom(h.Address.Addr(), port).String()
}

// any returns the address that stands for all of the node's family.
func (h *Host) any() netip.Addr {
	if h.Address.Addr().Is6() {
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}

func (h *Host) program(name string) string { return filepath.Join(h.Programs, name) }

// certificate makes a certificate of this host's own, signed by an authority of the
// cluster, unless there is one for these names and addresses already.
func (h *Host) certificate(signer, name string, s pki.Subject) error {
	authority, err := h.Keys.Load(signer)
	if err != nil {
		return err
	}
	return h.Own.Issue(authority, name, s, h.Now())
}

// names lists the names under which servers on this host are reached.
func (h *Host) names(more ...string) []string {
	names := []string{"localhost", "127.0.0.1", "::1", h.Name, h.Address.Addr().String(), h.Plan.InternalName()}
	for _, vip := range h.Plan.APIVIPs {
		names = append(names, vip.String())
	}
	return append(names, more...)
}
