package neighbours

import (
	"errors"
	"net"
	"net/netip"

	"github.com/mdlayher/ndp"
	"golang.org/x/net/ipv6"
)

// ndpQuestion asks for IPv6 addresses.
type ndpQuestion struct {
	*ndp.Conn
	link *net.Interface
}

func openNDP(link *net.Interface, source netip.Addr) (question, error) {
	conn, _, err := ndp.Listen(link, ndp.Addr(source.String()))
	if err != nil {
		return nil, err
	}
	var filter ipv6.ICMPFilter
	filter.SetAll(true)
	filter.Accept(ipv6.ICMPTypeNeighborAdvertisement)
	err = errors.Join(conn.SetICMPFilter(&filter), conn.SetControlMessage(ipv6.FlagHopLimit, true))
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return ndpQuestion{conn, link}, nil
}

func (q ndpQuestion) ask(address netip.Addr) error {
	group, err := ndp.SolicitedNodeMulticast(address)
	if err != nil {
		return err
	}
	return q.WriteTo(&ndp.NeighborSolicitation{
		TargetAddress: address,
		Options:       []ndp.Option{&ndp.LinkLayerAddress{Direction: ndp.Source, Addr: q.link.HardwareAddr}},
	}, nil, group)
}

func (q ndpQuestion) hear() (answer, error) {
	for {
		message, control, _, err := q.ReadFrom()
		if err != nil {
			return answer{}, err
		}
		advertisement, is := message.(*ndp.NeighborAdvertisement)
		if !is || control == nil || control.HopLimit != ndp.HopLimit {
			continue // one that a router forwarded is not of this link (RFC 4861, section 7.1.2)
		}
		found := answer{address: advertisement.TargetAddress}
		for _, option := range advertisement.Options {
			if link, is := option.(*ndp.LinkLayerAddress); is && link.Direction == ndp.Target {
				found.mac = link.Addr
			}
		}
		return found, nil
	}
}
