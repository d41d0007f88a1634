package staticnet

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// checkEthernet checks speed and duplex, which belong together and are only forced when nothing is negotiated, as without
// auto-negotiation (nm-settings(5), 802-3-ethernet).
func checkEthernet(one iface) error {
	e := one.Ethernet
	if e == nil {
		return nil
	}
	switch {
	case !slices.Contains([]string{"", "full", "half"}, e.Duplex):
		return fmt.Errorf("ethernet.duplex: require full or half, found %q", e.Duplex)
	case e.Speed != nil && (*e.Speed <= 0 || *e.Speed > math.MaxUint32):
		return fmt.Errorf("ethernet.speed: require a speed in Mb/s, found %d", *e.Speed)
	case !e.AutoNegotiation.is(true) && (e.Speed != nil) != (e.Duplex != ""):
		return fmt.Errorf("ethernet: speed and duplex are required together")
	}
	return nil
}

func (c *conversion) writeEthernet(file keyfile, one iface) {
	e := one.Ethernet
	if e == nil || e.AutoNegotiation == nil && e.Speed == nil {
		return
	}
	file.set("ethernet", "auto-negotiate", strconv.FormatBool(e.AutoNegotiation.is(true)))
	if !e.AutoNegotiation.is(true) {
		file.setNumber("ethernet", "speed", e.Speed)
		file.set("ethernet", "duplex", e.Duplex)
	}
}

// features are the features whose names in NetworkManager are not the kernel's.
var features = map[string]string{
	"rx-checksum": "rx", "tx-scatter-gather": "sg", "tx-tcp-segmentation": "tso", "rx-gro": "gro", "tx-generic-segmentation": "gso",
	"rx-hashing": "rxhash", "rx-lro": "lro", "rx-ntuple-filter": "ntuple", "rx-vlan-hw-parse": "rxvlan", "tx-vlan-hw-insert": "txvlan",
}

// moreFeatures are the features with the same name in both (nm-settings(5), ethtool.feature-*).
var moreFeatures = []string{
	"esp-hw-offload", "esp-tx-csum-hw-offload", "fcoe-mtu", "highdma", "hw-tc-offload", "l2-fwd-offload", "loopback", "macsec-hw-offload",
	"rx-all", "rx-fcs", "rx-gro-hw", "rx-gro-list", "rx-udp_tunnel-port-offload", "rx-vlan-filter", "rx-vlan-stag-filter",
	"rx-vlan-stag-hw-parse",
	"tls-hw-record", "tls-hw-rx-offload", "tls-hw-tx-offload", "tx-checksum-fcoe-crc", "tx-checksum-ip-generic", "tx-checksum-ipv4",
	"tx-checksum-ipv6", "tx-checksum-sctp", "tx-esp-segmentation", "tx-fcoe-segmentation", "tx-gre-csum-segmentation",
	"tx-gre-segmentation",
	"tx-gso-list", "tx-gso-partial", "tx-gso-robust", "tx-ipxip4-segmentation", "tx-ipxip6-segmentation", "tx-nocache-copy",
	"tx-scatter-gather-fraglist", "tx-sctp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation", "tx-tcp6-segmentation",
	"tx-tunnel-remcsum-segmentation", "tx-udp-segmentation", "tx-udp_tnl-csum-segmentation", "tx-udp_tnl-segmentation",
	"tx-vlan-stag-hw-insert",
}

// ethtoolOptions makes the tables of NMState's sections of ethtool.
func ethtoolOptions() map[string]map[string]option {
	feature := map[string]option{}
	for kernel, name := range features {
		feature[kernel] = option{trueFalse, "feature-" + name}
	}
	for _, name := range moreFeatures {
		feature[name] = option{trueFalse, "feature-" + name}
	}
	coalesce := map[string]option{"adaptive-rx": {oneZero, "coalesce-adaptive-rx"}, "adaptive-tx": {oneZero, "coalesce-adaptive-tx"}}
	for name := range strings.FieldsSeq(`pkt-rate-high pkt-rate-low rx-frames rx-frames-high rx-frames-irq rx-frames-low rx-usecs
		rx-usecs-high rx-usecs-irq rx-usecs-low sample-interval tx-frames tx-frames-high tx-frames-irq tx-frames-low
		tx-usecs tx-usecs-high tx-usecs-irq tx-usecs-low`) {
		coalesce[name] = option{upTo(math.MaxUint32), "coalesce-" + name}
	}
	size := upTo(math.MaxUint32)
	return map[string]map[string]option{
		"feature":  feature,
		"coalesce": coalesce,
		"ring": {
			"rx":       {size, "ring-rx"},
			"rx-jumbo": {size, "ring-rx-jumbo"},
			"rx-mini":  {size, "ring-rx-mini"},
			"tx":       {size, "ring-tx"},
		},
		"pause": {"autoneg": {trueFalse, "pause-autoneg"}, "rx": {trueFalse, "pause-rx"}, "tx": {trueFalse, "pause-tx"}},
	}
}

func writeEthtool(file keyfile, e *ethtool) error {
	if e == nil {
		return nil
	}
	file.set("ethtool", "", "")
	tables := ethtoolOptions()
	for name, options := range map[string]map[string]any{"coalesce": e.Coalesce, "feature": e.Feature, "pause": e.Pause, "ring": e.Ring} {
		if err := convertOptions("ethtool."+name, options, tables[name], file.to("ethtool")); err != nil {
			return err
		}
	}
	if file["ethtool"]["pause-autoneg"] != "false" && (file["ethtool"]["pause-rx"] != "" || file["ethtool"]["pause-tx"] != "") {
		return fmt.Errorf(
			"ethtool.pause.autoneg: false is required with rx and tx, because they are negotiated otherwise",
		)
	}
	return nil
}
