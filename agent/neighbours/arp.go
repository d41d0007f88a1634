package neighbours

import (
	"bytes"
	"errors"
	"net"
	"net/netip"

	"github.com/mdlayher/arp"
	"github.com/mdlayher/ethernet"
)

// arpQuestion asks for IPv4 addresses.
type arpQuestion struct {
	*arp.Client
	link   *net.Interface
	source netip.Addr
}

func openARP(link *net.Interface, source netip.Addr) (question, error) {
	client, err := arp.Dial(link)
	if err != nil {
		return nil, err
	}
	return arpQuestion{client, link, source}, nil
}

func (q arpQuestion) ask(address netip.Addr) error {
	// Not Request: it names the first address of the interface as the sender, which a
	// station of another network may not answer.
	request, err := arp.NewPacket(arp.OperationRequest, q.link.HardwareAddr, q.source, make(net.HardwareAddr, 6), address)
	if err != nil {
		return err
	}
	return q.WriteTo(request, ethernet.Broadcast)
}

func (q arpQuestion) hear() (answer, error) {
	for {
		packet, _, err := q.Read()
		var broken *net.OpError
		if errors.As(err, &broken) {
			return answer{}, err
		}
		if err != nil {
			continue // a frame that is not one of ARP
		}
		// The socket also sees what this machine answers to others.
		if packet.Operation == arp.OperationReply && !bytes.Equal(packet.SenderHardwareAddr, q.link.HardwareAddr) {
			return answer{packet.SenderIP, packet.SenderHardwareAddr}, nil
		}
	}
}
