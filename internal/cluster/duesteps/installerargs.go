package duesteps

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// InstallerArgs lists the arguments of the image writer: the user's, and arguments that carry the network and the disk over into the
// installed system (docs/reference/step-rules.md, "Installer arguments").
func InstallerArgs(in ArgsInput) []string {
	h := in.Host
	args := writerArgs{options: model.WriterOptions(h.InstallerArgs)}
	kept, keptIP := mainframeKargs(h)
	givenIP := args.givesIP() || keptIP
	switch {
	case in.InfraEnv != nil && in.InfraEnv.StaticNetworkConfig != "":
		if !args.copiesNetwork() {
			args.options = append(args.options, model.WriterOption{Name: model.CopyNetwork})
		}
	case !givenIP:
		args.add(dhcpKargs(in)...)
	}
	args.add(diskKargs(h)...)
	if !givenIP && reachesCluster(in, &args) {
		for _, karg := range iscsiKargs(h) {
			if !args.configures(karg[:strings.LastIndex(karg, ":")+1]) {
				args.add(karg)
			}
		}
	}
	args.add(kept...)
	return model.WriterArgs(args.options)
}

// writerArgs are the arguments of a host while they are put together.
type writerArgs struct{ options []model.WriterOption }

// kargs lists the kernel arguments that are appended. One value may hold several.
func (w *writerArgs) kargs() []string {
	var out []string
	for _, o := range w.options {
		if o.Name == model.AppendKarg {
			out = append(out, strings.Fields(o.Value)...)
		}
	}
	return out
}

// add appends kernel arguments that are not given yet.
func (w *writerArgs) add(kargs ...string) {
	for _, k := range kargs {
		if !slices.Contains(w.kargs(), k) {
			w.options = append(w.options, model.WriterOption{Name: model.AppendKarg, Value: k, Valued: true})
		}
	}
}

// givesIP reports whether network kernel arguments are given already.
func (w *writerArgs) givesIP() bool { return w.configures("ip=") }

// configures reports whether a kernel argument with a beginning is given, such as ip= with the address of a NIC.
func (w *writerArgs) configures(beginning string) bool {
	return slices.ContainsFunc(w.kargs(), func(k string) bool { return strings.HasPrefix(k, beginning) })
}

func (w *writerArgs) copiesNetwork() bool {
	return slices.ContainsFunc(w.options, func(o model.WriterOption) bool { return o.Name == model.CopyNetwork })
}

func installerArgsText(in ArgsInput) (string, error) {
	args := InstallerArgs(in)
	if len(args) == 0 {
		return "", nil
	}
	out, err := json.Marshal(args)
	return string(out), err
}

// reachesCluster reports whether the initramfs has a route to the cluster beside the NICs of an iSCSI disk. Without any ip=
// it configures all NICs, and with one for the disk alone only that NIC: where no machine network is known, as for hosts of an
// imported cluster, none may be added.
func reachesCluster(in ArgsInput, args *writerArgs) bool {
	return args.givesIP() || args.copiesNetwork() || onOraclesCloud(in)
}

// dhcpKargs configure the NICs in the machine networks; others keep out of the boot. Without machine networks, and for an existing
// cluster, the networks are unknown. On Oracle's cloud the firmware's table configures the NIC of an iSCSI disk, and DHCP on another
// NIC would take its route away.
func dhcpKargs(in ArgsInput) []string {
	if in.Cluster == nil || in.Host.DayTwo() || in.Cluster.DayTwo() || onOraclesCloud(in) && len(iscsiPaths(in.Host)) > 0 {
		return nil
	}
	var out []string
	networks := in.Cluster.Effective().MachineNetworks
	for _, nic := range hardware.NICs(in.Host.Inventory) {
		if nic.MAC == "" {
			continue
		}
		v4, v6 := false, false
		for _, a := range nic.Addresses {
			if inAny(networks, a) {
				v4, v6 = v4 || a.Addr().Is4(), v6 || a.Addr().Is6()
			}
		}
		if method := dhcpMethod(v4, v6); method != "" {
			out = append(out, "ip="+strings.ReplaceAll(nic.MAC, ":", "-")+":"+method)
		}
	}
	return out
}

func dhcpMethod(v4, v6 bool) string {
	switch {
	case v4 && v6:
		return "dhcp,dhcp6"
	case v4:
		return "dhcp"
	case v6:
		return "dhcp6"
	}
	return ""
}

func inAny(networks []netip.Prefix, a netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a.Addr()) })
}

// onOraclesCloud reports whether a machine runs in Oracle's cloud, which imported clusters do not name.
func onOraclesCloud(in ArgsInput) bool {
	if in.Host.Inventory != nil && in.Host.Inventory.SystemVendor.Manufacturer == validation.OracleCloud {
		return true
	}
	return in.Cluster != nil && in.Cluster.Platform.Type == "external" && in.Cluster.Platform.ExternalName == "oci"
}

// diskKargs make the installation disk visible in the initramfs.
func diskKargs(h *model.Host) []string {
	d := hardware.InstallationDisk(h)
	if d == nil {
		return nil
	}
	var kargs []string
	switch d.DriveType {
	case wire.DriveTypeMultipath:
		kargs = []string{"rw", "rd.multipath=default"}
	case wire.DriveTypeRAID:
		kargs = []string{"rd.md=1", "rd.auto=1"}
	}
	if len(iscsiPaths(h)) > 0 {
		kargs = append(kargs, "rd.iscsi.firmware=1")
	}
	return kargs
}

// iscsiPaths lists the iSCSI disks that the installation disk is reached over.
func iscsiPaths(h *model.Host) []*wire.Disk {
	d := hardware.InstallationDisk(h)
	if d == nil {
		return nil
	}
	return hardware.ISCSIPaths(h.Inventory, d)
}

// iscsiKargs configure the NICs that the installation disk is reached over.
func iscsiKargs(h *model.Host) []string {
	var out []string
	for _, d := range iscsiPaths(h) {
		addr, err := netip.ParseAddr(d.Iscsi.HostIPAddress)
		if err != nil {
			continue
		}
		for _, nic := range hardware.NICs(h.Inventory) {
			if nic.MAC != "" && slices.ContainsFunc(nic.Addresses, func(a netip.Prefix) bool { return a.Addr() == addr }) {
				out = append(out, "ip="+strings.ReplaceAll(nic.MAC, ":", "-")+":"+dhcpMethod(addr.Is4(), addr.Is6()))
				break
			}
		}
	}
	return out
}
