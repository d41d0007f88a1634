package model

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"net"
	"net/netip"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// ConnectivityReport is a host's report on its links to other hosts, packed into a
// tenth of its size: every host of a cluster reports on every other one, a million links
// among a thousand hosts. It is nil while the host has not reported. Equal reports are
// equal byte by byte.
//
// It holds the version, the number of remote hosts, and for each its id and its lists of
// links, each list preceded by its length. Numbers are varints. A text is written once;
// later occurrences refer to its index among the texts.
type ConnectivityReport []byte

// connectivityVersion is the first byte of a packed report.
const connectivityVersion = 1

// Kinds of texts: the lower bits of the number that precedes them. The rest is the index of a known text, or
// the length of a new one.
const (
	textKnown = iota
	textPlain
	textAddress // of IPv4 or IPv6, as bytes
	textMAC     // as bytes
	textKinds
)

// PackConnectivity packs a report in the form that hosts send.
func PackConnectivity(report wire.ConnectivityReport) ConnectivityReport {
	p := packer{out: []byte{connectivityVersion}, texts: map[string]int{"": 0}}
	p.number(len(report.RemoteHosts))
	for i := range report.RemoteHosts {
		remote := &report.RemoteHosts[i]
		p.out = append(p.out, remote.HostID[:]...)
		p.number(len(remote.L2Connectivity))
		for _, l := range remote.L2Connectivity {
			p.flag(l.Successful)
			p.text(l.OutgoingIPAddress, l.OutgoingNic, l.RemoteIPAddress, l.RemoteMac)
		}
		p.number(len(remote.L3Connectivity))
		for _, l := range remote.L3Connectivity {
			p.flag(l.Successful)
			p.text(l.OutgoingNic, l.RemoteIPAddress)
			p.float(l.AverageRttMs)
			p.float(l.PacketLossPercentage)
		}
		p.number(len(remote.MtuReport))
		for _, l := range remote.MtuReport {
			p.flag(l.MtuSuccessful)
			p.text(l.OutgoingNic, l.RemoteIPAddress)
		}
	}
	return p.out
}

// Unpack returns the report in the form that hosts send.
func (r ConnectivityReport) Unpack() wire.ConnectivityReport {
	out := wire.ConnectivityReport{RemoteHosts: []wire.ConnectivityRemoteHost{}}
	for remote := range r.Remotes() {
		out.RemoteHosts = append(out.RemoteHosts, wire.ConnectivityRemoteHost{
			HostID: remote.HostID, L2Connectivity: slices.Clone(remote.L2Connectivity),
			L3Connectivity: slices.Clone(remote.L3Connectivity), MtuReport: slices.Clone(remote.MtuReport),
		})
	}
	return out
}

// Remotes iterates over the reported hosts, in the order of the report. Each value is valid until the next one:
// they share memory.
func (r ConnectivityReport) Remotes() iter.Seq[*wire.ConnectivityRemoteHost] {
	return func(yield func(*wire.ConnectivityRemoteHost) bool) {
		if len(r) == 0 || r[0] != connectivityVersion {
			return
		}
		u := unpacker{in: r[1:], texts: []string{""}}
		var remote wire.ConnectivityRemoteHost
		for range u.count() {
			u.remote(&remote)
			if u.broken || !yield(&remote) {
				return
			}
		}
	}
}

type packer struct {
	out   []byte
	texts map[string]int
}

func (p *packer) number(n int) { p.out = binary.AppendUvarint(p.out, uint64(n)) }

func (p *packer) flag(set bool) {
	if set {
		p.out = append(p.out, 1)
		return
	}
	p.out = append(p.out, 0)
}

// float writes the significant bytes of a number; round numbers end in zero bytes.
func (p *packer) float(f float64) {
	p.out = binary.AppendUvarint(p.out, bits.ReverseBytes64(math.Float64bits(f)))
}

func (p *packer) text(texts ...string) {
	for _, text := range texts {
		if place, known := p.texts[text]; known {
			p.number(place*textKinds + textKnown)
			continue
		}
		p.texts[text] = len(p.texts)
		kind, content := textPlain, []byte(text)
		if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" && a.String() == text {
			kind, content = textAddress, a.AsSlice()
		} else if mac, err := net.ParseMAC(text); err == nil && mac.String() == text {
			kind, content = textMAC, mac
		}
		p.number(len(content)*textKinds + kind)
		p.out = append(p.out, content...)
	}
}

// unpacker reads a report. Reading a truncated report marks the unpacker as broken and yields zero values.
type unpacker struct {
	in     []byte
	texts  []string
	broken bool
}

func (u *unpacker) remote(into *wire.ConnectivityRemoteHost) {
	into.HostID, _ = uuid.FromBytes(u.bytes(len(into.HostID)))
	into.L2Connectivity = into.L2Connectivity[:0]
	for range u.count() {
		into.L2Connectivity = append(into.L2Connectivity, wire.L2Connectivity{
			Successful: u.flag(), OutgoingIPAddress: u.text(), OutgoingNic: u.text(), RemoteIPAddress: u.text(), RemoteMac: u.text(),
		})
	}
	into.L3Connectivity = into.L3Connectivity[:0]
	for range u.count() {
		into.L3Connectivity = append(into.L3Connectivity, wire.L3Connectivity{
			Successful: u.flag(), OutgoingNic: u.text(), RemoteIPAddress: u.text(), AverageRttMs: u.float(),
			PacketLossPercentage: u.float(),
		})
	}
	into.MtuReport = into.MtuReport[:0]
	for range u.count() {
		into.MtuReport = append(into.MtuReport, wire.MtuReport{
			MtuSuccessful: u.flag(), OutgoingNic: u.text(), RemoteIPAddress: u.text(),
		})
	}
}

func (u *unpacker) number() uint64 {
	n, size := binary.Uvarint(u.in)
	if size <= 0 {
		u.broken, u.in = true, nil
		return 0
	}
	u.in = u.in[size:]
	return n
}

// count reads the length of a list whose elements take at least one byte each.
func (u *unpacker) count() int {
	if n := u.number(); n <= uint64(len(u.in)) {
		return int(n)
	}
	u.broken = true
	return 0
}

func (u *unpacker) bytes(n int) []byte {
	if n > len(u.in) {
		u.broken, u.in = true, nil
		return nil
	}
	out := u.in[:n]
	u.in = u.in[n:]
	return out
}

func (u *unpacker) flag() bool {
	b := u.bytes(1)
	return len(b) == 1 && b[0] == 1
}

func (u *unpacker) float() float64 { return math.Float64frombits(bits.ReverseBytes64(u.number())) }

func (u *unpacker) text() string {
	n := u.number()
	kind, n := n%textKinds, n/textKinds
	if kind == textKnown {
		if n < uint64(len(u.texts)) {
			return u.texts[n]
		}
		u.broken = true
		return ""
	}
	content := u.bytes(int(min(n, math.MaxInt32)))
	var text string
	switch kind {
	case textAddress:
		a, _ := netip.AddrFromSlice(content)
		text = a.String()
	case textMAC:
		text = net.HardwareAddr(content).String()
	default:
		text = string(content)
	}
	u.texts = append(u.texts, text)
	return text
}
