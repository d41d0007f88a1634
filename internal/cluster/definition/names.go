package definition

import (
	"net/netip"
	"slices"
	"strings"

	"slipway/internal/cluster/access"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
)

const maxNode = 253

func checkClusterName(name, platform string) error {
	labels := []string{name}
	if platform == "none" { // the only platform whose DNS records the user makes
		labels = strings.Split(name, ".")
	}
	if name == "" || slices.ContainsFunc(labels, func(l string) bool { return !access.IsLabel(l) }) {
		return model.Invalidf("name: require a DNS name of lower-case letters, digits and hyphens, found %q", name)
	}
	return nil
}

func checkDomain(field, domain string) error {
	if !access.IsDomain(domain) {
		return model.Invalidf("%s: require a DNS domain of lower-case labels and at most %d characters, found %q",
			field, access.MaxDomain, domain)
	}
	return nil
}

// checkBaseDomain works like checkDomain for base_dns_domain, whose last label cannot be a single letter: no top-level domain is.
func checkBaseDomain(domain string) error {
	const field, shortest = "base_dns_domain", 2
	if err := checkDomain(field, domain); err != nil {
		return err
	}
	if top := domain[strings.LastIndex(domain, ".")+1:]; len(top) < shortest {
		return model.Invalidf("%s: require a domain that ends in a label of at least %d letters, found %q", field, shortest, domain)
	}
	return nil
}

// CheckHostname checks the name of a host.
func CheckHostname(name string) error {
	if len(name) > maxNode {
		return model.Invalidf("host_name: require at most %d characters, found %d", maxNode, len(name))
	}
	if err := validation.CheckHostname(name); err != nil {
		return model.Invalidf("host_name: %s", err)
	}
	return nil
}

// maxSources bounds the NTP sources; chrony polls each of them.
const maxSources = 100

// splitNTP reads NTP sources separated by commas: addresses or DNS names, which openshift-install takes in lower case only.
func splitNTP(field, text string) ([]string, error) {
	var sources []string
	for source := range strings.SplitSeq(text, ",") {
		source = strings.ToLower(strings.TrimSpace(source))
		if source == "" {
			continue
		}
		if _, err := netip.ParseAddr(source); err != nil && checkDomain(field, source) != nil {
			return nil, model.Invalidf("%s: require addresses or names separated by commas, found %q", field, source)
		}
		if slices.Contains(sources, source) {
			continue
		}
		if len(sources) == maxSources {
			return nil, model.Invalidf("%s: more than %d sources", field, maxSources)
		}
		sources = append(sources, source)
	}
	return sources, nil
}
