package netns_test

import (
	"context"

	"slipway/internal/wire"
)

// settings are faults of what the service knows of the networks.
var settings = []fault{
	{
		name: "no virtual addresses", inject: set(vips("", ""), vips(apiVIP, ingressVIP)),
		fails: []symptom{
			onCluster("api-vips-defined", "found none"), onCluster("ingress-vips-defined", "found none"),
			onCluster("machine-cidr-defined", "found none"), onHost("machine-cidr-defined", "found none"),
		},
	},
	{
		name: "no base domain", inject: set(domain(""), domain(clusterDomain)),
		fails: []symptom{onCluster("dns-domain-defined", "found none")},
	},
	{
		name: "no cluster network", inject: set(pods("", 0), pods(podNetwork, podPrefix)),
		fails: []symptom{onCluster("cluster-cidr-defined", "found none")},
	},
	{
		name: "no service network", inject: set(services(""), services(serviceNetwork)),
		fails: []symptom{onCluster("service-cidr-defined", "found none")},
	},
	{
		name: "cluster network for too few hosts", inject: set(pods("10.128.0.0/21", podPrefix), pods(podNetwork, podPrefix)),
		fails: []symptom{onCluster("network-prefix-valid", "has 4")},
	},
	{
		name: "cluster network around the hosts", inject: set(pods("10.64.0.0/12", podPrefix), pods(podNetwork, podPrefix)),
		fails: []symptom{onCluster("no-cidrs-overlapping", "overlaps")},
	},
	{
		name: "service network of another family", inject: set(services("fd02::/112"), services(serviceNetwork)),
		fails: []symptom{onCluster("networks-same-address-families", "families")},
	},
	{
		name: "half a network of the hosts", inject: set(machines("10.77.0.0/25"), machines(network)),
		fails: []symptom{onCluster("machine-cidr-equals-to-calculated-cidr", "found 10.77.0.0/25")},
	},
	{
		name: "network plug-in without its manifests", inject: set(plugin("Calico"), plugin("OVNKubernetes")),
		fails: []symptom{onCluster("custom-manifests-requirements-satisfied", "Calico")},
	},
}

// The networks that a cluster has unless its user says otherwise.
const (
	podNetwork     = "10.128.0.0/14"
	podPrefix      = 23
	serviceNetwork = "172.30.0.0/16"
)

// set changes the cluster, and changes it back.
func set(wrong, right wire.V2ClusterUpdateParams) injector {
	return func(ctx context.Context, b *bench, _ *host) (func() error, error) {
		return func() error { return b.update(ctx, right) }, b.update(ctx, wrong)
	}
}

func domain(name string) wire.V2ClusterUpdateParams {
	return wire.V2ClusterUpdateParams{BaseDNSDomain: &name}
}

func plugin(name wire.V2ClusterUpdateParamsNetworkType) wire.V2ClusterUpdateParams {
	return wire.V2ClusterUpdateParams{NetworkType: &name}
}

func machines(network string) wire.V2ClusterUpdateParams {
	return wire.V2ClusterUpdateParams{MachineNetworks: &[]wire.MachineNetwork{{Cidr: network}}}
}

func vips(api, ingress string) wire.V2ClusterUpdateParams {
	apis, ingresses := []wire.APIVip{}, []wire.IngressVip{}
	if api != "" {
		apis, ingresses = append(apis, wire.APIVip{IP: api}), append(ingresses, wire.IngressVip{IP: ingress})
	}
	return wire.V2ClusterUpdateParams{APIVips: &apis, IngressVips: &ingresses}
}

func pods(network string, prefix int) wire.V2ClusterUpdateParams {
	networks := []wire.ClusterNetwork{}
	if network != "" {
		networks = append(networks, wire.ClusterNetwork{Cidr: network, HostPrefix: prefix})
	}
	return wire.V2ClusterUpdateParams{ClusterNetworks: &networks}
}

func services(network string) wire.V2ClusterUpdateParams {
	networks := []wire.ServiceNetwork{}
	if network != "" {
		networks = append(networks, wire.ServiceNetwork{Cidr: network})
	}
	return wire.V2ClusterUpdateParams{ServiceNetworks: &networks}
}
