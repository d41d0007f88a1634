package answers

import (
	"math"
	"strconv"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// appendConnectivity appends a report as JSON in a string of JSON: what wire.Text(wire.Text(r.Unpack())) returns, in a quarter of the time.
// Reports are most of a list of hosts that reach each other.
func appendConnectivity(to []byte, r model.ConnectivityReport) []byte {
	to = append(to, `"{\"remote_hosts\":[`...)
	first := true
	for remote := range r.Remotes() {
		to = appendRemote(separated(to, &first), remote)
	}
	return append(to, `]}"`...)
}

// separated appends a comma, except before the first of a list.
func separated(to []byte, first *bool) []byte {
	if !*first {
		to = append(to, ',')
	}
	*first = false
	return to
}

func appendRemote(to []byte, remote *wire.ConnectivityRemoteHost) []byte {
	fields := quotedFields{to: append(to, '{')}
	if id := remote.HostID; id != [16]byte{} {
		fields.text("host_id", id.String())
	}
	appendLinks(&fields, "l2_connectivity", remote.L2Connectivity, func(link *quotedFields, l *wire.L2Connectivity) {
		link.text("outgoing_ip_address", l.OutgoingIPAddress)
		link.text("outgoing_nic", l.OutgoingNic)
		link.text("remote_ip_address", l.RemoteIPAddress)
		link.text("remote_mac", l.RemoteMac)
		link.flag("successful", l.Successful)
	})
	appendLinks(&fields, "l3_connectivity", remote.L3Connectivity, func(link *quotedFields, l *wire.L3Connectivity) {
		link.number("average_rtt_ms", l.AverageRttMs)
		link.text("outgoing_nic", l.OutgoingNic)
		link.number("packet_loss_percentage", l.PacketLossPercentage)
		link.text("remote_ip_address", l.RemoteIPAddress)
		link.flag("successful", l.Successful)
	})
	appendLinks(&fields, "mtu_report", remote.MtuReport, func(link *quotedFields, l *wire.MtuReport) {
		link.flag("mtu_successful", l.MtuSuccessful)
		link.text("outgoing_nic", l.OutgoingNic)
		link.text("remote_ip_address", l.RemoteIPAddress)
	})
	return append(fields.to, '}')
}

func appendLinks[T any](fields *quotedFields, name string, links []T, add func(*quotedFields, *T)) {
	if len(links) == 0 {
		return
	}
	fields.name(name)
	fields.to = append(fields.to, '[')
	first := true
	for i := range links {
		link := quotedFields{to: append(separated(fields.to, &first), '{')}
		add(&link, &links[i])
		fields.to = append(link.to, '}')
	}
	fields.to = append(fields.to, ']')
}

// quotedFields appends the fields of an object that is inside of a string of JSON. Zero values are left out, as by the tags of wire.
type quotedFields struct {
	to    []byte
	later bool // another field precedes
}

func (f *quotedFields) name(name string) {
	if f.later {
		f.to = append(f.to, ',')
	}
	f.later = true
	f.to = append(append(append(f.to, `\"`...), name...), `\":`...)
}

func (f *quotedFields) text(name, value string) {
	if value == "" {
		return
	}
	f.name(name)
	if plain(value) {
		f.to = append(append(append(f.to, `\"`...), value...), `\"`...)
		return
	}
	quoted := wire.Text(wire.Text(value))
	f.to = append(f.to, quoted[1:len(quoted)-1]...)
}

// plain reports whether JSON escapes nothing in a text.
func plain(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

func (f *quotedFields) flag(name string, value bool) {
	if value {
		f.name(name)
		f.to = append(f.to, "true"...)
	}
}

// number writes numbers as encoding/json does.
func (f *quotedFields) number(name string, value float64) {
	if value == 0 {
		return
	}
	f.name(name)
	if size := math.Abs(value); size >= 1e-6 && size < 1e21 {
		f.to = strconv.AppendFloat(f.to, value, 'f', -1, 64)
		return
	}
	f.to = append(f.to, wire.Text(value)...)
}
