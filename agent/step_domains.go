package agent

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"time"

	"slipway/internal/wire"
)

// domainRequest is a wire.DomainResolutionRequest, whose domains the API leaves untyped.
type domainRequest struct {
	Domains []struct {
		Name string `json:"domain_name"`
	} `json:"domains"`
}

// lookupLimit is how long the lookups of one name may take: name servers that never
// answer must not keep a step from its own answer. The first of two may be one of those.
const lookupLimit = 30 * time.Second

// domainResolution looks up names. A name that has no address, for whatever reason, is
// an answer as well: the service judges what must resolve and what must not.
func (a *Agent) domainResolution(ctx context.Context, req *domainRequest) (wire.DomainResolutionResponse, error) {
	response := wire.DomainResolutionResponse{Resolutions: make([]resolution, len(req.Domains))}
	var lookups sync.WaitGroup
	for n, domain := range req.Domains {
		lookups.Go(func() { response.Resolutions[n] = a.resolve(ctx, domain.Name) })
	}
	lookups.Wait()
	return response, ctx.Err()
}

func (a *Agent) resolve(ctx context.Context, name string) resolution {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	entry := resolution{DomainName: name}
	addresses, err := a.host.Resolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		a.log.Debug("name not resolved", "name", name, "error", err)
	}
	for _, address := range addresses {
		addAddress(&entry, address.Unmap())
	}
	entry.Cnames = a.canonical(ctx, name) // also of a name without an address: a pool whose members are not up yet
	return entry
}

// resolution is an entry of wire.DomainResolutionResponse, which has no name of its own.
type resolution = struct {
	Cnames        []string `json:"cnames,omitempty,omitzero"`
	DomainName    string   `json:"domain_name"`
	Ipv4Addresses []string `json:"ipv4_addresses,omitempty,omitzero"`
	Ipv6Addresses []string `json:"ipv6_addresses,omitempty,omitzero"`
}

func addAddress(entry *resolution, address netip.Addr) {
	if address.Is4() {
		entry.Ipv4Addresses = append(entry.Ipv4Addresses, address.String())
		return
	}
	entry.Ipv6Addresses = append(entry.Ipv6Addresses, address.WithZone("").String())
}

// canonical returns the name that a name is an alias of.
func (a *Agent) canonical(ctx context.Context, name string) []string {
	cname, err := a.host.Resolver.LookupCNAME(ctx, name)
	if err != nil || strings.EqualFold(strings.TrimSuffix(cname, "."), strings.TrimSuffix(name, ".")) {
		return nil
	}
	return []string{cname}
}
