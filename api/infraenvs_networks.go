package api

import (
	"sync/atomic"

	"slipway/internal/hostconfig/staticnet"
)

// networks keeps the network settings parsed last. They are parsed when they are set, and again for each file that is
// made from them.
type networks struct{ last atomic.Pointer[readNetworks] }

type readNetworks struct {
	text  string
	hosts []staticnet.Host
}

// parse calls staticnet.Parse, and keeps the last result. The hosts are for reading only.
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

// check returns whether settings hold placeholders, and the error of settings that cannot be read.
func (n *networks) check(text string) (waiting bool, err error) {
	hosts, err := n.parse(text)
	return staticnet.Waiting(hosts), err
}
