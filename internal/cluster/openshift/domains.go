package openshift

import (
	"fmt"
	"slices"
	"strings"
)

// ManagedDomain is a DNS domain whose records a service keeps for its clusters.
type ManagedDomain struct {
	Name     string // example.com
	Provider string // route53
	ID       string // of the domain at its provider
}

// ParseDomains reads the domains of a deployment: "example.com:Z0123/route53", separated by commas. An empty text, or a pair of quotes
// that deployments write for it, gives no domains.
func ParseDomains(text string) ([]ManagedDomain, error) {
	var out []ManagedDomain
	for item := range strings.SplitSeq(strings.Trim(strings.TrimSpace(text), `"`), ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, rest, _ := strings.Cut(item, ":")
		id, provider, _ := strings.Cut(rest, "/")
		if name == "" || id == "" || provider != "route53" {
			return nil, fmt.Errorf("read base DNS domains: require domain:id/route53, found %q", item)
		}
		if slices.ContainsFunc(out, func(d ManagedDomain) bool { return d.Name == name }) {
			return nil, fmt.Errorf("read base DNS domains: require each once, found %s twice", name)
		}
		out = append(out, ManagedDomain{Name: name, Provider: provider, ID: id})
	}
	return out, nil
}
