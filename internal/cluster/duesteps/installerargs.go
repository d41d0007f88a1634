package duesteps

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

const (
	copyNetwork = "--copy-network"
	appendKarg  = "--append-karg"
)

// s390xKargs are taken over from the boot command line: they make devices visible.
var s390xKargs = []string{"rd.znet=", "rd.dasd=", "rd.zfcp=", "zfcp.allow_lun_scan=", "rd.znet_ifname=", "cio_ignore="}

// InstallerArgs are the arguments of the image writer: the user's, and those that carry
// the network and the disk over into the installed system (docs/reference/step-rules.md,
// "Installer arguments").
func InstallerArgs(in ArgsInput) []string {
	h := in.Host
	args := slices.Clone(h.InstallerArgs)
	userIP := givesIP(args)
	add := func(kargs ...string) {
		for _, k := range kargs {
			if !slices.Contains(args, k) {
				args = append(args, appendKarg, k)
			}
		}
	}
	switch {
	case in.InfraEnv != nil && in.InfraEnv.StaticNetworkConfig != "":
		if !slices.Contains(args, copyNetwork) {
			args = append(args, copyNetwork)
		}
	case !userIP:
		add(dhcpKargs(in)...)
	}
	add(diskKargs(h, userIP)...)
	if h.Inventory != nil && in.Cluster != nil && in.Cluster.CPUArchitecture == archS390X {
		add(keptKargs(h.Inventory.Boot.CommandLine)...)
	}
	return args
}

func installerArgsText(in ArgsInput) (string, error) {
	args := InstallerArgs(in)
	if len(args) == 0 {
		return "", nil
	}
	out, err := json.Marshal(args)
	return string(out), err
}

// givesIP reports whether network kernel arguments are given already.
func givesIP(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return strings.HasPrefix(a, "ip=") || strings.Contains(a, "karg=ip=")
	})
}

// dhcpKargs configure the NICs in the machine networks; others keep out of the boot.
// Without machine networks, and for networks of an existing cluster, nothing is known.
func dhcpKargs(in ArgsInput) []string {
	if in.Cluster == nil || in.Host.DayTwo() || in.Cluster.DayTwo() {
		return nil
	}
	var out []string
	for _, nic := range validation.NICs(in.Host.Inventory) {
		if nic.MAC == "" {
			continue
		}
		v4, v6 := false, false
		for _, a := range nic.Addresses {
			if inAny(in.Cluster.MachineNetworks, a) {
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

// diskKargs make the installation disk visible in the initramfs.
func diskKargs(h *model.Host, ipGiven bool) []string {
	ref := h.InstallationDiskID
	if ref == "" {
		ref = h.InstallationDiskPath
	}
	d := validation.FindDisk(h.Inventory, ref)
	if d == nil {
		return nil
	}
	switch d.DriveType {
	case wire.DriveTypeMultipath:
		return []string{"rw", "rd.multipath=default"}
	case wire.DriveTypeRAID:
		return []string{"rd.md=1", "rd.auto=1"}
	case wire.DriveTypeISCSI:
		kargs := []string{"rd.iscsi.firmware=1"}
		if karg, ok := iscsiKarg(h, d); ok && !ipGiven {
			kargs = append(kargs, karg)
		}
		return kargs
	}
	return nil
}

// iscsiKarg configures the NIC an iSCSI disk is reached over.
func iscsiKarg(h *model.Host, d *wire.Disk) (string, bool) {
	addr, err := netip.ParseAddr(d.Iscsi.HostIPAddress)
	if err != nil {
		return "", false
	}
	for _, nic := range validation.NICs(h.Inventory) {
		if nic.MAC != "" && slices.ContainsFunc(nic.Addresses, func(a netip.Prefix) bool { return a.Addr() == addr }) {
			return "ip=" + strings.ReplaceAll(nic.MAC, ":", "-") + ":" + dhcpMethod(addr.Is4(), addr.Is6()), true
		}
	}
	return "", false
}

func keptKargs(commandLine string) []string {
	var out []string
	for karg := range strings.FieldsSeq(commandLine) {
		if slices.ContainsFunc(s390xKargs, func(prefix string) bool { return strings.HasPrefix(karg, prefix) }) {
			out = append(out, karg)
		}
	}
	return out
}
