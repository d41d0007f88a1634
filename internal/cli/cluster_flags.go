package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"slipway/internal/wire"
)

// clusterFlags are the settings of a cluster that can be given when it is defined and changed until it is
// installed. A flag that is not given leaves its setting unchanged; an empty value clears a list or text.
type clusterFlags struct {
	From       []byte   `type:"filecontent" help:"File with the definition as the API takes it, JSON or YAML; flags win over it." placeholder:"FILE"`
	BaseDomain *string  `help:"Domain below which the cluster's names are: example.com."`
	PullSecret []byte   `type:"filecontent" help:"File with the pull secret." placeholder:"FILE"`
	SSHKey     []byte   `name:"ssh-key" type:"filecontent" help:"File with public SSH keys that may log in to the hosts." placeholder:"FILE"`
	NTP        *string  `help:"NTP servers of the hosts, separated by commas."`
	Tag        []string `help:"Tag of the cluster; repeatable."`
	Operator   []string `sep:"none" help:"Operator to install, with its properties if any; repeatable." placeholder:"NAME[=JSON]"`
	Bundle     []string `help:"Bundle of operators to install; repeatable."`
	nodeFlags
	networkFlags
}

// nodeFlags are the settings of a cluster's nodes.
type nodeFlags struct {
	ControlPlane       *int                                      `help:"Hosts of the control plane, 1 to 5: 1 is a single node, 2 come with an arbiter or fencing." placeholder:"3"`
	SchedulableMasters *bool                                     `negatable:"" help:"Run user workloads on the control plane."`
	Hyperthreading     *wire.V2ClusterUpdateParamsHyperthreading `help:"Roles whose hosts use it: all, none, or some of masters,arbiters,workers." placeholder:"ROLES"`
	DiskEncryption     *wire.DiskEncryptionEnableOn              `help:"Roles whose disks are encrypted: all, none, or some of masters,arbiters,workers." placeholder:"ROLES"`
	DiskEncryptionMode *wire.DiskEncryptionMode                  `enum:"tpmv2,tang" help:"Key storage for encrypted disks: tpmv2 or tang." placeholder:"MODE"`
	Tang               []string                                  `help:"Tang server that unlocks encrypted disks; repeatable." placeholder:"URL=THUMBPRINT"`
	Platform           *wire.PlatformType                        `enum:"baremetal,none,vsphere,nutanix,external" help:"Platform: baremetal, none, vsphere, nutanix or external." placeholder:"TYPE"`
	ExternalPlatform   *string                                   `help:"Name of the external platform: oci. Implies --platform external." placeholder:"NAME"`
}

// networkFlags are the settings of a cluster's networks.
type networkFlags struct {
	APIVIP                []string                               `name:"api-vip" help:"Virtual address of the API; one of each family." placeholder:"ADDRESS"`
	IngressVIP            []string                               `name:"ingress-vip" help:"Virtual address of the applications; one of each family." placeholder:"ADDRESS"`
	MachineNetwork        []string                               `help:"Network of the hosts; repeatable." placeholder:"CIDR"`
	ClusterNetwork        []string                               `help:"Network of the pods, with the prefix length of a host; one of each family." placeholder:"CIDR[=PREFIX]"`
	ServiceNetwork        []string                               `help:"Network of the services; one of each family." placeholder:"CIDR"`
	NetworkType           *wire.V2ClusterUpdateParamsNetworkType `enum:"OVNKubernetes,OpenShiftSDN,Calico,Cilium,CiscoACI,None" help:"Network plugin." placeholder:"OVNKubernetes"`
	UserManagedNetworking *bool                                  `negatable:"" help:"The user manages DNS names, addresses and load balancing."`
	LoadBalancer          *wire.LoadBalancerType                 `enum:"cluster-managed,user-managed" help:"Type of the load balancer: cluster-managed or user-managed." placeholder:"TYPE"`
	HTTPProxy             *string                                `name:"http-proxy" help:"Proxy for http." placeholder:"URL"`
	HTTPSProxy            *string                                `name:"https-proxy" help:"Proxy for https." placeholder:"URL"`
	NoProxy               *string                                `name:"no-proxy" help:"Domains, addresses and networks that are reached without a proxy, separated by commas."`
}

// params returns the fields of the API that the flags set.
func (f *clusterFlags) params() (wire.V2ClusterUpdateParams, error) {
	p := wire.V2ClusterUpdateParams{
		BaseDNSDomain: f.BaseDomain, PullSecret: content(f.PullSecret), SSHPublicKey: content(f.SSHKey), AdditionalNtpSource: f.NTP,
		ControlPlaneCount: f.ControlPlane, SchedulableMasters: f.SchedulableMasters, Hyperthreading: f.Hyperthreading,
		OlmOperators: each(
			f.Operator,
			operator,
		), OperatorBundles: each(f.Bundle, func(id string) wire.BundleCreateParams { return wire.BundleCreateParams{ID: id} }),
	}
	if f.Tag != nil {
		tags := strings.Join(f.Tag, ",")
		p.Tags = &tags
	}
	f.platform(&p)
	if err := f.encryption(&p); err != nil {
		return p, err
	}
	return p, f.network(&p)
}

func (f *nodeFlags) platform(p *wire.V2ClusterUpdateParams) {
	if f.Platform != nil {
		p.Platform = &wire.Platform{Type: *f.Platform}
	}
	if f.ExternalPlatform != nil {
		if p.Platform == nil {
			p.Platform = &wire.Platform{Type: wire.PlatformTypeExternal}
		}
		p.Platform.External.PlatformName = *f.ExternalPlatform
	}
}

func (f *nodeFlags) encryption(p *wire.V2ClusterUpdateParams) error {
	if f.DiskEncryption == nil && f.DiskEncryptionMode == nil && f.Tang == nil {
		return nil
	}
	p.DiskEncryption = &wire.DiskEncryption{}
	if f.DiskEncryption != nil {
		p.DiskEncryption.EnableOn = *f.DiskEncryption
	}
	if f.DiskEncryptionMode != nil {
		p.DiskEncryption.Mode = *f.DiskEncryptionMode
	}
	var servers []map[string]string
	for _, text := range f.Tang {
		url, thumbprint, found := strings.Cut(text, "=")
		if !found {
			return usagef("--tang: require URL=THUMBPRINT, found %q", text)
		}
		servers = append(servers, map[string]string{"url": url, "thumbprint": thumbprint})
	}
	if servers == nil {
		return nil
	}
	text, err := json.Marshal(servers)
	p.DiskEncryption.TangServers = string(text)
	return err
}

func (f *networkFlags) network(p *wire.V2ClusterUpdateParams) error {
	p.APIVips = each(f.APIVIP, func(a string) wire.APIVip { return wire.APIVip{IP: a} })
	p.IngressVips = each(f.IngressVIP, func(a string) wire.IngressVip { return wire.IngressVip{IP: a} })
	p.MachineNetworks = each(f.MachineNetwork, func(n string) wire.MachineNetwork { return wire.MachineNetwork{Cidr: n} })
	p.ServiceNetworks = each(f.ServiceNetwork, func(n string) wire.ServiceNetwork { return wire.ServiceNetwork{Cidr: n} })
	p.NetworkType, p.UserManagedNetworking = f.NetworkType, f.UserManagedNetworking
	if f.LoadBalancer != nil {
		p.LoadBalancer = &wire.LoadBalancer{Type: *f.LoadBalancer}
	}
	p.HTTPProxy, p.HTTPSProxy, p.NoProxy = f.HTTPProxy, f.HTTPSProxy, f.NoProxy
	var err error
	p.ClusterNetworks = each(f.ClusterNetwork, func(text string) wire.ClusterNetwork {
		cidr, prefix, found := strings.Cut(text, "=")
		n := wire.ClusterNetwork{Cidr: cidr}
		if found {
			if length, bad := strconv.Atoi(prefix); bad != nil {
				err = usagef("--cluster-network: require CIDR=PREFIX with a number, found %q", text)
			} else {
				n.HostPrefix = length
			}
		}
		return n
	})
	return err
}

// operator reads NAME or NAME=JSON.
func operator(text string) wire.OperatorCreateParams {
	name, properties, found := strings.Cut(text, "=")
	o := wire.OperatorCreateParams{Name: &name}
	if found {
		o.Properties = &properties
	}
	return o
}

// each makes a list of the API from the values of a flag: nil when it was not given, an empty one when all
// values are empty.
func each[T any](values []string, one func(string) T) *[]T {
	if values == nil {
		return nil
	}
	list := []T{}
	for _, v := range values {
		if v != "" {
			list = append(list, one(v))
		}
	}
	return &list
}

// content returns the text of a file that a flag named, nil when it named none.
func content(file []byte) *string {
	if file == nil {
		return nil
	}
	text := lines(file)
	return &text
}

func usagef(format string, args ...any) error {
	return &Failure{fmt.Errorf(format, args...), exitUsage}
}
