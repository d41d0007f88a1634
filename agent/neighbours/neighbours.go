// Package neighbours asks on a link who answers for addresses: by ARP (RFC 826) for IPv4
// and by neighbour solicitations (RFC 4861, section 7.2) for IPv6. It needs no program of
// the host and changes none of its tables; it needs the right to open raw sockets.
package neighbours

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"slipway/internal/platform/hostexec"
)

const (
	// rounds is how often an address is asked for: a request or its answer may get lost.
	rounds = 3
	// patience is how long the answers to a round may take.
	patience = time.Second
	// burst requests go out at once, then there is a pause: a switch drops what comes faster.
	burst      = 32
	burstPause = 10 * time.Millisecond
)

// Links asks on the links of this machine.
type Links struct{}

// question is a socket on a link that asks for the addresses of one family.
type question interface {
	// ask sends the request for an address.
	ask(address netip.Addr) error
	// hear waits for the next answer: the MAC that has an address; without a MAC when the answer
	// does not contain it.
	hear() (answer, error)
	SetReadDeadline(t time.Time) error
	Close() error
}

type answer struct {
	address netip.Addr
	mac     net.HardwareAddr
}

// Ask asks on the link of an interface for addresses of one family. The result has an
// entry for each address that any station answers for: the MAC addresses of all of them,
// in lower case and sorted. More than one is a duplicate. The source is an address of the
// interface in the network of the others. Addresses of this machine do not answer.
func (Links) Ask(ctx context.Context, nic string, source netip.Addr, addresses []netip.Addr) (map[netip.Addr][]string, error) {
	link, err := net.InterfaceByName(nic)
	if err != nil {
		return nil, fmt.Errorf("find interface %s: %w", nic, err)
	}
	open := openARP
	if source.Is6() {
		open = openNDP
	}
	q, err := open(link, source)
	if err != nil {
		return nil, fmt.Errorf("open a socket on %s: %w", nic, err)
	}
	h := &heard{asked: addresses, by: map[netip.Addr][]string{}}
	var listener sync.WaitGroup
	listener.Go(func() { h.listen(q) })
	err = h.askAll(ctx, q)
	_ = q.SetReadDeadline(time.Unix(1, 0)) // ends the listener
	listener.Wait()
	err = errors.Join(err, h.broken, q.Close())
	if err != nil {
		return nil, fmt.Errorf("ask on %s: %w", nic, err)
	}
	return h.by, nil
}

// heard are the answers.
type heard struct {
	asked  []netip.Addr
	broken error // of the listener

	mu sync.Mutex
	by map[netip.Addr][]string
}

func (h *heard) askAll(ctx context.Context, q question) error {
	for range rounds {
		for n, address := range h.asked {
			if len(h.asked) > 1 && h.answered(address) {
				continue // a second station matters where a single address is asked for
			}
			// A full queue is not an error: there are more rounds.
			if err := q.ask(address); err != nil && !errors.Is(err, syscall.ENOBUFS) {
				return err
			}
			if n%burst == burst-1 {
				if err := hostexec.Sleep(ctx, burstPause); err != nil {
					return err
				}
			}
		}
		if err := hostexec.Sleep(ctx, patience); err != nil {
			return err
		}
	}
	return nil
}

func (h *heard) listen(q question) {
	for {
		a, err := q.hear()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if err != nil {
			h.broken = err
			return
		}
		if slices.Contains(h.asked, a.address) {
			h.note(a)
		}
	}
}

func (h *heard) note(a answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	macs := h.by[a.address]
	if mac := a.mac.String(); mac != "" && !slices.Contains(macs, mac) {
		macs = append(macs, mac)
		slices.Sort(macs)
	}
	h.by[a.address] = macs
}

func (h *heard) answered(address netip.Addr) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, is := h.by[address]
	return is
}
