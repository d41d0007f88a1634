package definition

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// maxDiscoveryDelay is a day, in seconds: a host that waits longer looks disconnected.
const maxDiscoveryDelay = 86400

// InfraEnvSettings are the fields that registration and update of an InfraEnv have in common; nil fields change
// nothing.
type InfraEnvSettings struct {
	Proxy                *wire.Proxy
	AdditionalNTPSources *string // besides the hosts' own
	NTPSources           *string // instead of the hosts' own
	SSHAuthorizedKey     *string
	StaticNetwork        *[]wire.HostStaticNetworkConfig
	RendezvousIP         *string
	ImageType            *wire.ImageType
	IgnitionOverride     *string
	KernelArguments      *wire.KernelArguments
	TrustBundle          *string
	DiscoveryDelay       *int64 // seconds
	// ParseNetwork reads static network settings, the JSON of a list of hosts; it reports whether they hold placeholders, and
	// returns an error for invalid ones.
	ParseNetwork func(text string) (waiting bool, err error)
}

// Apply applies the settings to an InfraEnv. It does not check whether an image can be made from the result.
func (p InfraEnvSettings) Apply(e *model.InfraEnv) error {
	if p.ImageType != nil {
		e.ImageType = string(*p.ImageType)
	}
	if p.Proxy != nil {
		proxy, err := parseProxy(model.Proxy{HTTP: p.Proxy.HTTPProxy, HTTPS: p.Proxy.HTTPSProxy, NoProxy: p.Proxy.NoProxy})
		if err != nil {
			return err
		}
		e.Proxy = proxy
	}
	if p.DiscoveryDelay != nil {
		if *p.DiscoveryDelay > maxDiscoveryDelay {
			return model.Invalidf("network_discovery_delay_seconds: require at most %d, found %d", maxDiscoveryDelay, *p.DiscoveryDelay)
		}
		e.DiscoveryDelay = time.Duration(*p.DiscoveryDelay) * time.Second
	}
	for _, part := range []func(*model.InfraEnv, InfraEnvSettings) error{
		applyInfraEnvTime, applyInfraEnvAccess, applyStaticNetwork, applyKernelArguments,
	} {
		if err := part(e, p); err != nil {
			return err
		}
	}
	return checkImageType(e)
}

// checkImageType refuses an image that does not exist for an architecture (docs/reference/images.md, "Images that do
// not exist"), and a disconnected image without a release.
func checkImageType(e *model.InfraEnv) error {
	switch {
	case e.ImageType == string(wire.ImageTypeDisconnectedIso) && e.ClusterID == nil:
		return model.Invalidf(
			"image_type: %s requires an InfraEnv of a cluster, because its release makes the config",
			e.ImageType,
		)
	case e.CPUArchitecture != "s390x":
		return nil
	case e.ImageType == string(wire.ImageTypeMinimalIso):
		return model.Invalidf("image_type: require full-iso with cpu_architecture s390x, which has no minimal image; found %s", e.ImageType)
	case len(e.KernelArguments) > 0:
		return model.Invalidf(
			"kernel_arguments: require none with cpu_architecture s390x, whose images have no room for them; found %d",
			len(e.KernelArguments),
		)
	}
	return nil
}

func applyInfraEnvTime(e *model.InfraEnv, p InfraEnvSettings) error {
	if deref(p.AdditionalNTPSources) != "" && deref(p.NTPSources) != "" {
		return model.Invalidf("additional_ntp_sources, ntp_sources: only one of them is allowed")
	}
	for _, field := range []struct {
		name string
		text *string
		only bool // instead of the hosts' own
	}{{"additional_ntp_sources", p.AdditionalNTPSources, false}, {"ntp_sources", p.NTPSources, true}} {
		if field.text == nil || *field.text == "" && e.NTPSourcesOnly != field.only {
			continue
		}
		sources, err := splitNTP(field.name, *field.text)
		if err != nil {
			return err
		}
		e.NTPSources, e.NTPSourcesOnly = sources, field.only && len(sources) > 0
	}
	return nil
}

func applyInfraEnvAccess(e *model.InfraEnv, p InfraEnvSettings) error {
	if p.SSHAuthorizedKey != nil {
		keys, err := parseSSHKeys("ssh_authorized_key", *p.SSHAuthorizedKey)
		if err != nil {
			return err
		}
		e.SSHAuthorizedKey = keys
	}
	if p.TrustBundle != nil {
		bundle := model.Lines(*p.TrustBundle)
		if err := checkCertificates("additional_trust_bundle", bundle); err != nil {
			return err
		}
		e.AdditionalTrustBundle = bundle
	}
	if p.IgnitionOverride != nil {
		if err := ignition.CheckOverride(*p.IgnitionOverride); err != nil {
			return model.Invalidf("ignition_config_override: %s", err)
		}
		e.IgnitionConfigOverride = *p.IgnitionOverride
	}
	return nil
}

func applyStaticNetwork(e *model.InfraEnv, p InfraEnvSettings) error {
	if p.RendezvousIP != nil {
		if _, err := netip.ParseAddr(*p.RendezvousIP); err != nil && *p.RendezvousIP != "" {
			return model.Invalidf("rendezvous_ip: require an address, found %q", *p.RendezvousIP)
		}
		e.RendezvousIP = *p.RendezvousIP
	}
	if p.StaticNetwork == nil {
		return nil
	}
	if len(*p.StaticNetwork) == 0 {
		e.StaticNetworkConfig, e.StaticNetworkWaits = "", false
		return nil
	}
	text, err := json.Marshal(*p.StaticNetwork)
	if err != nil {
		return fmt.Errorf("encode static network settings: %w", err)
	}
	waits, err := p.ParseNetwork(string(text))
	if err != nil {
		return err
	}
	e.StaticNetworkConfig, e.StaticNetworkWaits = string(text), waits
	return nil
}

// BindInfraEnv checks an InfraEnv against its cluster and takes the version and, unless the client chose one, the
// architecture of the cluster.
func BindInfraEnv(e *model.InfraEnv, c *model.Cluster, chosen bool) error {
	if e.OpenShiftVersion == "" {
		e.OpenShiftVersion = c.OpenShiftVersion
	}
	if c.CPUArchitecture == "multi" {
		return nil
	}
	if !chosen {
		e.CPUArchitecture = c.CPUArchitecture
	}
	if ReleaseArchitecture(e.CPUArchitecture) != ReleaseArchitecture(c.CPUArchitecture) {
		return model.Invalidf("cpu_architecture: require %s for cluster %s, found %s", c.CPUArchitecture, c.Name, e.CPUArchitecture)
	}
	return nil
}
