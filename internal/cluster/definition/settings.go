package definition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// setting applies one part of a client's request to a cluster.
type setting func(*model.Cluster, wire.V2ClusterUpdateParams) error

// settings are the parts of a definition; each depends only on earlier ones.
var settings = []setting{
	applyPlatform, applyIdentity, applyNetworks, applyVIPs, applyProxy, applyTime, applyNodes, applyEndpoint, applyOperators,
}

// joiningSettings are the parts for hosts that join an installed cluster.
var joiningSettings = []setting{applyIdentity, applyProxy, applyTime, applyEndpoint}

// applySettings applies a client's settings to a cluster, at registration and update; absent fields change nothing.
func applySettings(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	rows := settings
	if c.DayTwo() {
		rows = joiningSettings
	}
	for _, apply := range rows {
		if err := apply(c, p); err != nil {
			return err
		}
	}
	return nil
}

func applyIdentity(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	set(&c.Name, p.Name)
	if p.Name != nil || !c.DayTwo() { // names of imported clusters were chosen elsewhere
		if err := checkClusterName(c.Name, c.Platform.Type); err != nil {
			return err
		}
	}
	set(&c.BaseDNSDomain, p.BaseDNSDomain)
	if c.BaseDNSDomain != "" {
		if err := checkBaseDomain(c.BaseDNSDomain); err != nil {
			return err
		}
	}
	if p.SSHPublicKey != nil {
		keys, err := parseSSHKeys("ssh_public_key", *p.SSHPublicKey)
		if err != nil {
			return err
		}
		c.SSHPublicKey = keys
	}
	if err := checkTags(deref(p.Tags)); err != nil {
		return err
	}
	set(&c.Tags, p.Tags)
	return nil
}

func applyProxy(c *model.Cluster, p wire.V2ClusterUpdateParams) (err error) {
	set(&c.Proxy.HTTP, p.HTTPProxy)
	set(&c.Proxy.HTTPS, p.HTTPSProxy)
	set(&c.Proxy.NoProxy, p.NoProxy)
	c.Proxy, err = parseProxy(c.Proxy)
	return err
}

// applyTime sets the NTP sources: additional_ntp_source adds to the sources of the hosts, ntp_sources replaces them.
func applyTime(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	if deref(p.AdditionalNtpSource) != "" && deref(p.NtpSources) != "" {
		return model.Invalidf("additional_ntp_source, ntp_sources: only one of them is allowed")
	}
	for _, field := range []struct {
		name string
		text *string
		only bool
	}{
		{"additional_ntp_source", p.AdditionalNtpSource, false},
		{"ntp_sources", p.NtpSources, true},
	} {
		if field.text == nil || *field.text == "" && c.NTPSourcesOnly != field.only {
			continue // an empty field removes only sources set by the same field
		}
		sources, err := splitNTP(field.name, *field.text)
		if err != nil {
			return err
		}
		c.NTPSources, c.NTPSourcesOnly = sources, field.only && len(sources) > 0
	}
	return nil
}

// applyEndpoint sets where hosts that join an installed cluster get their configuration.
func applyEndpoint(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	if e := p.IgnitionEndpoint; e != nil {
		endpoint := model.IgnitionEndpoint{URL: strings.TrimSpace(e.URL), CACertificate: model.Unwrapped(e.CaCertificate)}
		if err := checkIgnitionEndpoint(endpoint); err != nil {
			return err
		}
		c.IgnitionEndpoint = endpoint
	}
	if p.APIVipDNSName == nil {
		return nil
	}
	name := ""
	if *p.APIVipDNSName != "" {
		var err error
		if name, err = parseHostOrAddress("api_vip_dns_name", *p.APIVipDNSName); err != nil {
			return err
		}
	}
	c.APIVIPDNSName = name
	if c.Imported && c.BaseDNSDomain == "" { // imported with an address
		c.Name, c.BaseDNSDomain = nameAndDomain(c.Name, name)
	}
	return nil
}

// fingerprint changes with every setting that steps of hosts depend on.
func fingerprint(c *model.Cluster) string {
	var vips []string
	for _, v := range slices.Concat(c.APIVIPs, c.IngressVIPs) {
		vips = append(vips, v.IP.String())
	}
	return fmt.Sprint(c.Name, c.BaseDNSDomain, c.UserManagedNetworking, c.VIPDHCPAllocation, vips, c.MachineNetworks, c.MachineNetworksAuto,
		c.ClusterNetworks, c.ServiceNetworks, c.NTPSources, c.DiskEncryption, c.IgnitionEndpoint, c.APIVIPDNSName)
}

// set changes a value if a client sent one.
func set[T any](value, sent *T) {
	if sent != nil {
		*value = *sent
	}
}

func deref[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

// tags are words of letters, digits and underscores, with single spaces, separated by commas
// (openshift/assisted-service, pkg/validations/validations.go).
var tags = regexp.MustCompile(`^\w+( \w+)*(,\w+( \w+)*)*$`)

func checkTags(text string) error {
	if text != "" && !tags.MatchString(text) {
		return model.Invalidf("tags: require words of letters, digits and underscores, separated by commas, found %q", text)
	}
	return nil
}
