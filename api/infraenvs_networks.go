package api

import (
	"sync/atomic"

	"slipway/internal/hostconfig/staticnet"
)

// networks remembers the network settings that were read last. They are read when they
// are set, and again for each file that is made of them.
type networks struct{ last atomic.Pointer[readNetworks] }

type readNetworks struct {
	text  string
	hosts []staticnet.Host
}

// parse is staticnet.Parse. The hosts are for reading only.
func (n *networks) parse(text string) ([]staticnet.Host, error) {
	if known := n.last.Load(); known != nil && known.text == text {
		return known.hosts, nil
	}
	hosts, err := staticnet.Parse(text)
	if err == nil && len(hosts) > 0 {
		n.last.Store(&readNetworks{text, hosts})
	}
	return hosts, err
}
