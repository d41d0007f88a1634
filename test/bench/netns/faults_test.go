package netns_test

import (
	"context"
	"time"
)

// fault is one way to break the network of a host, or what the service knows of it.
type fault struct {
	name string
	// fails lists the validations that must fail, and then pass again.
	fails  []symptom
	inject injector
	// lasts is how long the fault is left there in the long form.
	lasts time.Duration
}

// symptom is a validation, and what it must say when it fails.
type symptom struct {
	id, because string
	ofCluster   bool // not of the host
	unjudged    bool // a host without the fault is not judged at all
}

// injector breaks the network of a host and returns what repairs it.
type injector func(ctx context.Context, b *bench, h *host) (repair func() error, err error)

func onHost(id, because string) symptom    { return symptom{id: id, because: because} }
func onCluster(id, because string) symptom { return symptom{id: id, because: because, ofCluster: true} }

// The faults that the small bench has as well.
var (
	wildcard = fault{
		name: "wildcard in DNS", inject: nameServer(wildcardDNS),
		fails: []symptom{onHost("dns-wildcard-not-configured", "no wildcard")},
	}
	away = fault{
		name: "cut off", inject: cutOff, lasts: 5 * time.Minute,
		fails: []symptom{onHost("connected", "sign of life")},
	}
)

// links are faults that leave hosts where they are; each has a victim of its own, and
// none makes the validations of another fail on it.
var links = []fault{
	{
		name: "packet loss, each 4th frame", inject: badCable(cable{loseEvery: 4}),
		fails: []symptom{onHost("sufficient-packet-loss-requirement-for-role", "packet loss")},
	},
	{
		name: "latency, 600 ms each way", inject: badCable(cable{delay: 600 * time.Millisecond}),
		fails: []symptom{onHost("sufficient-network-latency-requirement-for-role", "round trip")},
	},
	{name: "duplicate IP", inject: duplicate, fails: []symptom{onHost("no-ip-collisions-in-network", "answered by 2 machines")}},
	{name: "MTU hole, 1500 of 9000", inject: smallPort, fails: []symptom{onHost("mtu-valid", "configured MTU")}},
	{name: "no default route", inject: noRoute, fails: []symptom{onHost("has-default-route", "found none")}},
	{name: "overlapping networks", inject: secondNIC, fails: []symptom{onHost("non-overlapping-subnets", "overlaps")}},
	wildcard,
	{name: "clock skew, an hour between two time servers", inject: clockSkew, fails: []symptom{onHost("ntp-synced", "none of")}},
	{
		name: "clock skew, two hours ahead of the service", inject: badCable(cable{skew: 2 * time.Hour}),
		fails: []symptom{
			onHost("time-synced-between-host-and-service", "ahead of the service"), onCluster("ntp-server-configured", "apart"),
		},
	},
	{
		name: "platform that needs user-managed networking", inject: openStack,
		fails: []symptom{onHost("valid-platform-network-settings", "OpenStack")},
	},
	{name: "API VIP in use", inject: takeVIP("api", apiVIP), fails: []symptom{onCluster("api-vips-valid", apiVIP+" answers")}},
	{
		name:   "ingress VIP in use",
		inject: takeVIP("ingress", ingressVIP),
		fails:  []symptom{onCluster("ingress-vips-valid", ingressVIP+" answers")},
	},
	{
		name: "iSCSI disks on the machine network", inject: iscsiDisks,
		fails: []symptom{{id: "no-iscsi-nic-belongs-to-machine-cidr", because: "outside the machine network", unjudged: true}},
	},
	{name: "boot medium taken away", inject: noMedium, fails: []symptom{onHost("media-connected", "cannot read it")}},
}

// places are faults that take a host away from the others.
var places = []fault{
	{name: "another VLAN", inject: otherVLAN, fails: []symptom{onHost("belongs-to-majority-group", "majority of hosts")}},
	{name: "another network", inject: moved, fails: []symptom{onHost("belongs-to-machine-cidr", network)}},
	away,
}

// names are faults of networks that the user manages: there the hosts resolve the names
// of the cluster.
var names = []fault{{
	name: "DNS without the names of the cluster", inject: nameServer(emptyDNS),
	fails: []symptom{
		onHost(
			"api-domain-name-resolved-correctly",
			"found no address",
		), onHost("api-int-domain-name-resolved-correctly", "found no address"),
		onHost("apps-domain-name-resolved-correctly", "found no address"),
	},
}}
