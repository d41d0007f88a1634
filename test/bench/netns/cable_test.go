package netns_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"slipway/test/bench/netlab"
)

// cable is a bad one. It is the bench's own: not every kernel can lose and delay packets
// by itself (sch_netem).
type cable struct {
	loseEvery int           // each so manieth frame of a direction is lost; 0: none
	delay     time.Duration // of each frame, each way
	skew      time.Duration // added to the host's time that polls tell the service
}

// frame is one on its way.
type frame struct {
	data []byte // with the header that says what is left to the hardware (PACKET_VNET_HDR)
	due  time.Time
}

const (
	// frameRoom holds the largest packet before its segmentation, and its headers.
	frameRoom = 64<<10 + 256
	// onTheWay is how many frames a cable holds.
	onTheWay = 8192
)

// between leads all frames that arrive at one interface of the namespace out of another,
// and back, until stopped.
func (c cable) between(s *netlab.Space, one, other string) (stop func(), err error) {
	a, err := openPort(s, one)
	if err != nil {
		return nil, err
	}
	b, err := openPort(s, other)
	if err != nil {
		_ = unix.Close(a)
		return nil, err
	}
	var wg sync.WaitGroup
	var over atomic.Bool
	wg.Go(func() { c.lead(a, b, &over) })
	wg.Go(func() { c.lead(b, a, &over) })
	return sync.OnceFunc(func() {
		over.Store(true)
		wg.Wait()
		_ = unix.Close(a)
		_ = unix.Close(b)
	}), nil
}

// openPort opens an interface for whole frames: packet(7).
func openPort(s *netlab.Space, name string) (socket int, err error) {
	err = s.Inside(func() error {
		link, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		if socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
			return os.NewSyscallError("socket", err)
		}
		return errors.Join(
			unix.SetsockoptInt(socket, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1),
			unix.SetsockoptInt(socket, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
			// Reading ends now and then, to see that the cable is taken away.
			unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000}),
			unix.Bind(socket, &unix.SockaddrLinklayer{Protocol: unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8, Ifindex: link.Index}),
		)
	})
	return socket, err
}

func (c cable) lead(from, to int, over *atomic.Bool) {
	line := make(chan frame, onTheWay)
	var out sync.WaitGroup
	out.Go(func() {
		for f := range line {
			time.Sleep(time.Until(f.due)) // the purpose of the cable: a delay
			_, _ = unix.Write(to, f.data) // a frame that is not taken is lost, as on any cable
		}
	})
	buffer := make([]byte, frameRoom)
	for count := 1; !over.Load(); {
		n, err := unix.Read(from, buffer)
		if err != nil || n <= 0 {
			continue // nothing came, or the interface is down
		}
		if count++; c.loseEvery > 0 && count%c.loseEvery == 0 {
			continue
		}
		c.skewPoll(buffer[:n])
		select {
		case line <- frame{append([]byte{}, buffer[:n]...), time.Now().Add(c.delay)}:
		default: // full
		}
	}
	close(line)
	out.Wait()
}

// pollTime is in the address of every poll, followed by ten digits
// (docs/reference/agent-protocol.md, "Polling").
var pollTime = []byte("/instructions?timestamp=")

// skewPoll makes the host tell a wrong time. No namespace has a wall clock of its own: so
// its clock is wrong on the cable only. Frames between namespaces carry no finished
// checksum that would have to follow.
func (c cable) skewPoll(data []byte) {
	const digits = 10
	at := bytes.Index(data, pollTime) + len(pollTime)
	if c.skew == 0 || at < len(pollTime) || len(data) < at+digits {
		return
	}
	if seconds, err := strconv.ParseInt(string(data[at:at+digits]), 10, 64); err == nil {
		copy(data[at:], strconv.FormatInt(seconds+int64(c.skew/time.Second), 10))
	}
}
