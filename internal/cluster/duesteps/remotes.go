package duesteps

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Remotes is the list of hosts for connectivity checks: each host is asked about all
// others, so the parts are made once and put together without one for each. It is
// read-only and may be shared.
type Remotes struct {
	ids   []uuid.UUID
	parts [][]byte
	total int
}

// NewRemotes lists the hosts of a cluster that can be asked about.
func NewRemotes(hosts []*model.Host) (*Remotes, error) {
	r := &Remotes{}
	for _, h := range hosts {
		if h.Inventory == nil || lifecycle.Silent.Has(h.Status) {
			continue
		}
		check := wire.ConnectivityCheckHost{HostID: h.ID}
		for _, nic := range hardware.NICs(h.Inventory) {
			n := wire.ConnectivityCheckNic{Name: nic.Name, Mac: nic.MAC}
			for _, a := range nic.Addresses {
				n.IPAddresses = append(n.IPAddresses, a.Addr().String())
			}
			check.Nics = append(check.Nics, n)
			if nic.CurrentMAC != "" { // its addresses are probed once
				check.Nics = append(check.Nics, wire.ConnectivityCheckNic{Name: nic.Name, Mac: nic.CurrentMAC})
			}
		}
		part, err := json.Marshal(check)
		if err != nil {
			return nil, fmt.Errorf("list addresses of host %s: %w", h.ID, err)
		}
		r.ids, r.parts, r.total = append(r.ids, h.ID), append(r.parts, part), r.total+len(part)+1
	}
	return r, nil
}

// without returns the JSON list of all hosts but one; nil when there is no other.
func (r *Remotes) without(id uuid.UUID) []byte {
	var b bytes.Buffer
	b.Grow(r.total + 2)
	for i, part := range r.parts {
		if r.ids[i] == id {
			continue
		}
		if b.Len() == 0 {
			b.WriteByte('[')
		} else {
			b.WriteByte(',')
		}
		b.Write(part)
	}
	if b.Len() == 0 {
		return nil
	}
	b.WriteByte(']')
	return b.Bytes()
}

func connectivityArgs(in *ArgsInput) ([]string, error) {
	r := in.Remotes
	if r == nil {
		var err error
		if r, err = NewRemotes(in.Hosts); err != nil {
			return nil, err
		}
	}
	list := r.without(in.Host.ID)
	if list == nil {
		return nil, ErrSkip
	}
	return []string{string(list)}, nil
}
