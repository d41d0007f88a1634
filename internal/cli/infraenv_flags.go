package cli

import (
	"strings"

	"sigs.k8s.io/yaml"

	"slipway/internal/wire"
)

// infraEnvFlags are the settings of an InfraEnv that can be given when it is created and changed later. A flag
// that is not given leaves its setting unchanged; an empty value clears it.
type infraEnvFlags struct {
	Version       *string         `help:"OpenShift version of the live image." placeholder:"4.20"`
	PullSecret    []byte          `type:"filecontent" help:"File with the pull secret." placeholder:"FILE"`
	SSHKey        []byte          `name:"ssh-key" type:"filecontent" help:"File with public SSH keys that may log in to the live image." placeholder:"FILE"`
	NTP           *string         `help:"NTP servers of the hosts, separated by commas."`
	StaticNetwork []byte          `type:"filecontent" help:"File with the addresses of the hosts: a list of network_yaml and mac_interface_map, JSON or YAML." placeholder:"FILE"`
	KernelArg     []string        `sep:"none" help:"Kernel argument of the live image: --kernel-arg ARG appends, --kernel-arg=-ARG (with =) removes, ARG=VALUE too; repeatable." placeholder:"[-]ARG"`
	Ignition      []byte          `type:"filecontent" help:"File with a config to merge with the discovery Ignition: an Ignition config (JSON) or a Butane config (YAML)." placeholder:"FILE"`
	TrustBundle   []byte          `type:"filecontent" help:"File with certificates (PEM) the hosts trust." placeholder:"FILE"`
	ImageType     *wire.ImageType `enum:"full-iso,minimal-iso,disconnected-iso" help:"Kind of live image: full-iso, minimal-iso or disconnected-iso." placeholder:"TYPE"`
	HTTPProxy     *string         `name:"http-proxy" help:"Proxy for http." placeholder:"URL"`
	HTTPSProxy    *string         `name:"https-proxy" help:"Proxy for https." placeholder:"URL"`
	NoProxy       *string         `name:"no-proxy" help:"Domains, addresses and networks that are reached without a proxy, separated by commas."`
}

// params returns the fields of the API that the flags set.
func (f *infraEnvFlags) params() (wire.InfraEnvUpdateParams, error) {
	p := wire.InfraEnvUpdateParams{
		OpenshiftVersion: f.Version, PullSecret: content(f.PullSecret), SSHAuthorizedKey: content(f.SSHKey), AdditionalNtpSources: f.NTP,
		KernelArguments: each(f.KernelArg, kernelArgument), IgnitionConfigOverride: content(f.Ignition),
		AdditionalTrustBundle: content(f.TrustBundle), ImageType: f.ImageType, Proxy: proxy(wire.Proxy{}, f.HTTPProxy, f.HTTPSProxy, f.NoProxy),
	}
	if f.StaticNetwork != nil {
		list := []wire.HostStaticNetworkConfig{}
		if err := yaml.UnmarshalStrict(f.StaticNetwork, &list); err != nil {
			return p, usagef("--static-network: require a list of network_yaml and mac_interface_map: %w", err)
		}
		p.StaticNetworkConfig = &list
	}
	return p, nil
}

func kernelArgument(text string) wire.KernelArgument {
	if arg, taken := strings.CutPrefix(text, "-"); taken {
		return wire.KernelArgument{Operation: wire.Delete, Value: arg}
	}
	return wire.KernelArgument{Operation: wire.Append, Value: text}
}

// proxy changes the given parts of a proxy; it returns nil when there is none.
func proxy(p wire.Proxy, http, https, no *string) *wire.Proxy {
	if http == nil && https == nil && no == nil {
		return nil
	}
	for to, from := range map[*string]*string{&p.HTTPProxy: http, &p.HTTPSProxy: https, &p.NoProxy: no} {
		if from != nil {
			*to = *from
		}
	}
	return &p
}
