package api

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"slipway/internal/ignition"
	"slipway/internal/model"
	"slipway/internal/wire"
)

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

// applyInfraEnv lays what a client sent over a discovery environment.
func applyInfraEnv(e *model.InfraEnv, p infraEnvSettings) error {
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
		e.DiscoveryDelay = time.Duration(*p.delay) * time.Second
	}
	for _, part := range []func(*model.InfraEnv, infraEnvSettings) error{
		applyInfraEnvTime, applyInfraEnvAccess, applyStaticNetwork, applyKernelArguments,
	} {
		if err := part(e, p); err != nil {
			return err
		}
	}
	return nil
}

func applyInfraEnvTime(e *model.InfraEnv, p infraEnvSettings) error {
	for field, text := range map[string]*string{"additional_ntp_sources": p.ntp, "ntp_sources": p.ntpSources} {
		if text == nil {
			continue
		}
		sources, err := splitNTP(field, *text)
		if err != nil {
			return err
		}
		e.NTPSources = sources
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

func applyStaticNetwork(e *model.InfraEnv, p infraEnvSettings) error {
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
	seen := map[string]bool{}
	for i, host := range *p.static {
		var state map[string]any
		if err := yaml.Unmarshal([]byte(host.NetworkYaml), &state); err != nil || len(state) == 0 {
			return model.Invalidf("static_network_config[%d].network_yaml: require a network state in YAML, found something else", i)
		}
		for _, nic := range host.MacInterfaceMap {
			mac := strings.ToLower(nic.MacAddress)
			if seen[mac] {
				return model.Invalidf("static_network_config[%d]: require each MAC address once, found %s again", i, mac)
			}
			seen[mac] = true
		}
	}
	e.StaticNetworkConfig = jsonText(*p.static)
	return nil
}

func applyKernelArguments(e *model.InfraEnv, p infraEnvSettings) error {
	if p.kernelArguments == nil {
		return nil
	}
	e.KernelArguments = nil
	for _, a := range *p.kernelArguments {
		e.KernelArguments = append(e.KernelArguments, model.KernelArgument{Operation: string(a.Operation), Value: a.Value})
	}
	return nil
}

// infraEnvToWire maps a discovery environment to its format in the API.
func (s *server) infraEnvToWire(e *model.InfraEnv) wire.InfraEnv {
	out := wire.InfraEnv{
		Kind: wire.InfraEnvKindInfraEnv, ID: e.ID, Href: BasePath + "/v2/infra-envs/" + e.ID.String(), Name: e.Name,
		ClusterID: deref(e.ClusterID), UserName: e.UserName, OrgID: e.OrgID,
		OpenshiftVersion: e.OpenShiftVersion, CPUArchitecture: wire.InfraEnvCPUArchitecture(e.CPUArchitecture),
		Type: wire.ImageType(e.ImageType), PullSecretSet: e.PullSecret.Reveal() != "",
		Proxy:                wire.Proxy{HTTPProxy: e.Proxy.HTTP, HTTPSProxy: e.Proxy.HTTPS, NoProxy: e.Proxy.NoProxy},
		AdditionalNtpSources: joined(e.NTPSources), SSHAuthorizedKey: e.SSHAuthorizedKey,
		StaticNetworkConfig: e.StaticNetworkConfig, RendezvousIP: e.RendezvousIP,
		IgnitionConfigOverride: e.IgnitionConfigOverride, AdditionalTrustBundle: e.AdditionalTrustBundle,
		NetworkDiscoveryDelaySeconds: int64(e.DiscoveryDelay / time.Second),
		DownloadURL:                  s.imageURL(e), ExpiresAt: wire.DateTime(e.ExpiresAt),
		CreatedAt: wire.DateTime(e.CreatedAt), UpdatedAt: wire.DateTime(e.UpdatedAt),
	}
	if len(e.KernelArguments) > 0 {
		out.KernelArguments = jsonText(e.KernelArguments)
	}
	return out
}

// imageURL is where the discovery image of an environment is offered
// (contract/image-service.md, 4.1).
func (s *server) imageURL(e *model.InfraEnv) string {
	version := e.OpenShiftVersion
	if version == "" {
		if release, err := s.Releases.Find(""); err == nil {
			version = release.Version
		}
	}
	return fmt.Sprintf("%s/byid/%s/%s/%s/%s.iso", s.BaseURL, e.ID, version, e.CPUArchitecture, strings.TrimSuffix(e.ImageType, "-iso"))
}
