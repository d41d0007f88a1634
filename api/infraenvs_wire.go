package api

import (
	"net/netip"
	"strings"
	"time"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// maxDiscoveryDelay is a day, in seconds: a host that waits longer looks dead.
const maxDiscoveryDelay = 86400

// infraEnvSettings are the fields that registration and update of a discovery
// environment have in common; nil ones change nothing.
type infraEnvSettings struct {
	proxy           *wire.Proxy
	ntp, ntpSources *string
	sshKey          *string
	static          *[]wire.HostStaticNetworkConfig
	rendezvousIP    *string
	imageType       *wire.ImageType
	override        *string
	kernelArguments *wire.KernelArguments
	trustBundle     *string
	delay           *int64 // seconds
}

// applyInfraEnv lays what a client sent over a discovery environment. Whether an image can
// be made of the result is for checkImage to tell.
func (s *server) applyInfraEnv(e *model.InfraEnv, p infraEnvSettings) error {
	if p.imageType != nil {
		e.ImageType = string(*p.imageType)
	}
	if p.proxy != nil {
		e.Proxy = model.Proxy{HTTP: p.proxy.HTTPProxy, HTTPS: p.proxy.HTTPSProxy, NoProxy: p.proxy.NoProxy}
		if err := checkProxy(e.Proxy); err != nil {
			return err
		}
	}
	if p.delay != nil {
		if *p.delay > maxDiscoveryDelay {
			return model.Invalidf("network_discovery_delay_seconds: require at most %d, found %d", maxDiscoveryDelay, *p.delay)
		}
		e.DiscoveryDelay = time.Duration(*p.delay) * time.Second
	}
	for _, part := range []func(*model.InfraEnv, infraEnvSettings) error{
		applyInfraEnvTime, applyInfraEnvAccess, s.applyStaticNetwork, applyKernelArguments,
	} {
		if err := part(e, p); err != nil {
			return err
		}
	}
	return checkImageType(e)
}

// checkImageType refuses an image that there is not: what an architecture does not have
// (docs/reference/images.md, "Images that do not exist"), and a disconnected one of no
// release.
func checkImageType(e *model.InfraEnv) error {
	switch {
	case e.ImageType == string(wire.ImageTypeDisconnectedIso) && e.ClusterID == nil:
		return model.Invalidf("image_type: require an environment of a cluster with %s: its release makes the config; found none", e.ImageType)
	case e.CPUArchitecture != "s390x":
		return nil
	case e.ImageType == string(wire.ImageTypeMinimalIso):
		return model.Invalidf("image_type: require full-iso with cpu_architecture s390x, which has no minimal image; found %s", e.ImageType)
	case len(e.KernelArguments) > 0:
		return model.Invalidf("kernel_arguments: require none with cpu_architecture s390x, whose images have no room for them; found %d", len(e.KernelArguments))
	}
	return nil
}

func applyInfraEnvTime(e *model.InfraEnv, p infraEnvSettings) error {
	if deref(p.ntp) != "" && deref(p.ntpSources) != "" {
		return model.Invalidf("additional_ntp_sources, ntp_sources: require one of them, found both")
	}
	for _, field := range []struct {
		name string
		text *string
		only bool // instead of what hosts have of their own
	}{{"additional_ntp_sources", p.ntp, false}, {"ntp_sources", p.ntpSources, true}} {
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

func applyInfraEnvAccess(e *model.InfraEnv, p infraEnvSettings) error {
	if p.sshKey != nil {
		if err := checkSSHKeys("ssh_authorized_key", *p.sshKey); err != nil {
			return err
		}
		e.SSHAuthorizedKey = strings.TrimSpace(*p.sshKey)
	}
	if p.trustBundle != nil {
		if err := checkCertificates("additional_trust_bundle", *p.trustBundle); err != nil {
			return err
		}
		e.AdditionalTrustBundle = *p.trustBundle
	}
	if p.override != nil {
		if err := ignition.CheckOverride(*p.override); err != nil {
			return model.Invalidf("ignition_config_override: %s", err)
		}
		e.IgnitionConfigOverride = *p.override
	}
	return nil
}

func (s *server) applyStaticNetwork(e *model.InfraEnv, p infraEnvSettings) error {
	if p.rendezvousIP != nil {
		if _, err := netip.ParseAddr(*p.rendezvousIP); err != nil && *p.rendezvousIP != "" {
			return model.Invalidf("rendezvous_ip: require an address, found %q", *p.rendezvousIP)
		}
		e.RendezvousIP = *p.rendezvousIP
	}
	if p.static == nil {
		return nil
	}
	if len(*p.static) == 0 {
		e.StaticNetworkConfig = ""
		return nil
	}
	text := jsonText(*p.static)
	if _, err := s.networks.parse(text); err != nil {
		return err
	}
	e.StaticNetworkConfig = text
	return nil
}

// infraEnvToWire maps a discovery environment to its format in the API.
func (s *server) infraEnvToWire(e *model.InfraEnv) (wire.InfraEnv, error) {
	address, expires, err := s.images.ISO(e)
	out := wire.InfraEnv{
		Kind: wire.InfraEnvKindInfraEnv, ID: e.ID, Href: BasePath + "/v2/infra-envs/" + e.ID.String(), Name: e.Name,
		ClusterID: deref(e.ClusterID), UserName: e.UserName, OrgID: e.OrgID, EmailDomain: emailDomain(e.UserName),
		OpenshiftVersion: e.OpenShiftVersion, CPUArchitecture: wire.InfraEnvCPUArchitecture(e.CPUArchitecture),
		Type: wire.ImageType(e.ImageType), PullSecretSet: e.PullSecret.Reveal() != "",
		Proxy:               wire.Proxy{HTTPProxy: e.Proxy.HTTP, HTTPSProxy: e.Proxy.HTTPS, NoProxy: e.Proxy.NoProxy},
		SSHAuthorizedKey:    e.SSHAuthorizedKey,
		StaticNetworkConfig: e.StaticNetworkConfig, RendezvousIP: e.RendezvousIP,
		IgnitionConfigOverride: e.IgnitionConfigOverride, AdditionalTrustBundle: e.AdditionalTrustBundle,
		NetworkDiscoveryDelaySeconds: int64(e.DiscoveryDelay / time.Second),
		DownloadURL:                  address, ExpiresAt: wire.DateTime(expires),
		CreatedAt: wire.DateTime(e.CreatedAt), UpdatedAt: wire.DateTime(e.UpdatedAt),
	}
	if sources := joined(e.NTPSources); e.NTPSourcesOnly {
		out.NtpSources = sources
	} else {
		out.AdditionalNtpSources = sources
	}
	if len(e.KernelArguments) > 0 {
		out.KernelArguments = jsonText(e.KernelArguments)
	}
	return out, err
}
