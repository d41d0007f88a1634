package service

import (
	"net"
	"slices"
	"strings"

	"slipway/internal/images/release"
	"slipway/internal/platform/guard"
	"slipway/internal/platform/store"
)

// outbound opens connections to registries and signature stores. Users name images, and registries name other addresses; what settings name
// is reached wherever it is.
func (s *Service) outbound(of release.Options) (guard.Outbound, error) {
	o, err := guard.ReadOutbound(s.options.FetchNetworks, s.options.FetchHosts)
	if err != nil {
		return o, err
	}
	if o.Services, err = store.Hosts(s.DatabaseURL); err != nil {
		return o, err
	}
	if address := s.Temporal.Options.HostPort; address != "" {
		o.Services = append(o.Services, address)
	}
	for _, signatures := range of.Signatures.Stores {
		if host := signatures.Host(); host != "" {
			o.Hosts = append(o.Hosts, host)
		}
	}
	named := slices.Clone(s.options.InsecureRegistry)
	for _, m := range of.Mirrors {
		named = append(named, m.Location)
		for _, l := range m.Locations {
			named = append(named, l.Location)
		}
	}
	if s.options.ReleaseImages != "" {
		for _, r := range s.offers.catalogue.List() {
			named = append(named, r.Image)
		}
	}
	for _, name := range named {
		host, _, _ := strings.Cut(name, "/")
		if host == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(host); err != nil {
			o.Hosts = append(o.Hosts, net.JoinHostPort(host, "443"), net.JoinHostPort(host, "80"))
			continue
		}
		o.Hosts = append(o.Hosts, host)
	}
	return o, nil
}
