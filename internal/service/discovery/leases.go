package discovery

import (
	"context"
	"net/netip"
	"regexp"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// leased holds the addresses and leases that a DHCP server gave a host for its cluster.
type leased struct {
	api, ingress           netip.Addr
	apiLease, ingressLease string
}

// readLease takes the virtual addresses that a DHCP server gave.
func readLease(_ context.Context, s *Service, _ sender, r wire.StepReply) (answer, error) {
	if r.ExitCode != 0 {
		// The cluster is looked at again: its time to get addresses may be over.
		return answer{apply: func(h *model.Host, _ *store.Tx) bool { return h.ClusterID != nil }}, nil
	}
	response, err := decode[wire.DhcpAllocationResponse](r)
	if err != nil {
		return answer{}, err
	}
	l := leased{apiLease: lasting(response.APIVipLease), ingressLease: lasting(response.IngressVipLease)}
	if l.api, err = leasedAddress("api_vip_address", response.APIVipAddress); err != nil {
		return answer{}, err
	}
	if l.ingress, err = leasedAddress("ingress_vip_address", response.IngressVipAddress); err != nil {
		return answer{}, err
	}
	return answer{cluster: func(ctx context.Context, id uuid.UUID) error { return s.takeLease(ctx, id, l) }}, nil
}

func leasedAddress(field, text string) (netip.Addr, error) {
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Unmap().Is4() {
		return a, model.Invalidf("%s: require an IPv4 address, found %q", field, text)
	}
	return a.Unmap(), nil
}

// leaseTimes are the lines of a lease of dhclient that differ each time it is renewed.
var leaseTimes = regexp.MustCompile(`(?m)^(\s*)(renew|rebind|expire)\s[^;]*;`)

// lasting returns a lease without its times: the hosts of the new cluster renew it by themselves.
func lasting(lease string) string { return leaseTimes.ReplaceAllString(lease, "${1}${2} never;") }

// takeLease sets the virtual addresses of a cluster that leases them, as long as no installation has put other addresses to use.
// Addresses of a network it no longer uses are left out.
func (s *Service) takeLease(ctx context.Context, clusterID uuid.UUID, l leased) error {
	_, err := s.store.UpdateCluster(ctx, clusterID, func(c *model.Cluster, t *store.Tx) error {
		networks := c.Effective().MachineNetworks
		if !c.VIPDHCPAllocation || !lifecycle.BeforeInstallation.Has(c.Status) || len(networks) == 0 ||
			!networks[0].Contains(l.api) || !networks[0].Contains(l.ingress) {
			return nil
		}
		c.APIVIPLease, c.IngressVIPLease = l.apiLease, l.ingressLease
		if onlyAddress(c.APIVIPs) == l.api && onlyAddress(c.IngressVIPs) == l.ingress {
			return nil
		}
		c.APIVIPs, c.IngressVIPs = []model.VIP{{IP: l.api}}, []model.VIP{{IP: l.ingress}}
		c.NetworkGeneration++ // hosts look whether anybody uses them
		t.Event(events.New(events.ApiIngressVIPUpdated, lifecycle.AboutCluster(c), events.Props{
			"api_vip": l.api.String(), "ingress_vip": l.ingress.String(),
		}, t.Now()))
		t.RefreshCluster(c.ID)
		return nil
	})
	return err
}

// onlyAddress returns the address of a list of one.
func onlyAddress(vips []model.VIP) netip.Addr {
	if len(vips) != 1 {
		return netip.Addr{}
	}
	return vips[0].IP
}
