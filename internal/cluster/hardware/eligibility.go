package hardware

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/wire"
)

// gb is the unit of sizes of disks.
const gb = int64(1_000_000_000)

// DiskSpec holds the requirements for the disks of a host.
type DiskSpec struct {
	MinSizeGB        int64  // of 10^9 bytes
	OpenShiftVersion string // empty counts as the newest version
	CPUArchitecture  string
}

// The service's reasons begin with these prefixes, so that a new evaluation replaces them and keeps the agent's.
const (
	reasonSize      = "Require a disk of at least"
	reasonDriveType = "Require a drive type that can be installed to"
	reasonPath      = "Require the multipath device instead of one of its paths"
	reasonMixed     = "Require a multipath device over one kind of path"
	reasonISCSI     = "Require an iSCSI disk away from the default route"
	reasonISCSIHost = "Require the address of the host that an iSCSI disk is reached from"
	reasonRouteNIC  = "Require the NIC of the default route"
)

var serviceReasons = []string{reasonSize, reasonDriveType, reasonPath, reasonMixed, reasonISCSI, reasonISCSIHost, reasonRouteNIC}

// driveRule is the version and architecture from which a drive type can be installed to.
type driveRule struct {
	drive wire.DriveType
	since string // empty: always
	archs []string
	why   string
}

// driveRules is the table of docs/reference/validation-rules.md, "Disk eligibility".
var driveRules = []driveRule{
	{drive: wire.DriveTypeHDD, why: "plain disk"},
	{drive: wire.DriveTypeSSD, why: "plain disk"},
	{drive: wire.DriveTypeMultipath, why: "the kernel keeps one path alive"},
	{drive: wire.DriveTypeRAID, since: "4.14.0", why: "firmware RAID is assembled in the initramfs from this version on"},
	{drive: wire.DriveTypeISCSI, since: "4.15.0", why: "the initramfs reads the firmware table from this version on"},
	{drive: wire.DriveTypeFC, archs: []string{"x86_64", "s390x"}, why: "tested there only"},
	{drive: wire.DriveTypeECKD, archs: []string{"s390x"}, why: "mainframe disk"},
	{drive: wire.DriveTypeECKDESE, archs: []string{"s390x"}, why: "mainframe disk"},
	{drive: wire.DriveTypeFBA, archs: []string{"s390x"}, why: "mainframe disk"},
}

// ApplyDiskEligibility evaluates every disk of an inventory: the agent's reasons against it stay, the service's are added, and the
// service's reasons of an earlier call are replaced.
func ApplyDiskEligibility(inv *wire.Inventory, spec DiskSpec) {
	for i := range inv.Disks {
		d := &inv.Disks[i]
		e := &d.InstallationEligibility
		reasons := slices.DeleteFunc(slices.Clone(e.NotEligibleReasons), ofService)
		reasons = append(reasons, evaluateDisk(inv, d, spec)...)
		if len(reasons) == 0 {
			reasons = nil
		}
		e.NotEligibleReasons = reasons
		e.Eligible = len(reasons) == 0
	}
}

func ofService(reason string) bool {
	return slices.ContainsFunc(serviceReasons, func(prefix string) bool { return strings.HasPrefix(reason, prefix) })
}

func evaluateDisk(inv *wire.Inventory, d *wire.Disk, spec DiskSpec) []string {
	var out []string
	if required := spec.MinSizeGB * gb; int64(d.SizeBytes) < required {
		out = append(out, fmt.Sprintf("%s %d GB, found %.1f GB", reasonSize, spec.MinSizeGB, float64(d.SizeBytes)/float64(gb)))
	}
	if !driveAllowed(d.DriveType, spec) {
		out = append(out, fmt.Sprintf("%s on %s, found %s", reasonDriveType, spec.CPUArchitecture, d.DriveType))
	}
	if HasPath(inv, d) {
		out = append(out, fmt.Sprintf("%s, found %s", reasonPath, d.DriveType))
	}
	if d.DriveType == wire.DriveTypeMultipath {
		if reason := mixedPaths(Paths(inv, d)); reason != "" {
			return append(out, reason)
		}
	}
	for _, path := range ISCSIPaths(inv, d) {
		if reason := iscsiPath(inv, path); reason != "" {
			return append(out, reason)
		}
	}
	return out
}

// iscsiPath says why a node could not boot over an iSCSI disk: its NIC is set up in the initial RAM disk, and again with the bridge of
// the cluster's network when the default route leaves by it.
func iscsiPath(inv *wire.Inventory, path *wire.Disk) string {
	from, ok := ParseAddr(path.Iscsi.HostIPAddress)
	switch {
	case path.Iscsi.HostIPAddress == "":
		return reasonISCSIHost + ", found none"
	case !ok:
		return fmt.Sprintf("%s, found %q", reasonISCSIHost, path.Iscsi.HostIPAddress)
	}
	route := BestDefaultRoute(inv, from.Is4())
	if route == "" {
		return ""
	}
	nics := NICs(inv)
	i := slices.IndexFunc(nics, func(n NIC) bool { return n.Name == route })
	switch {
	case i < 0:
		return fmt.Sprintf("%s (%s) for an iSCSI disk, it is not in the inventory", reasonRouteNIC, route)
	case Owns(nics[i:i+1], from):
		return fmt.Sprintf("%s, %s is on its NIC", reasonISCSI, from)
	}
	return ""
}

func driveAllowed(drive wire.DriveType, spec DiskSpec) bool {
	for _, r := range driveRules {
		if r.drive != drive {
			continue
		}
		return (r.since == "" || atLeastVersion(spec.OpenShiftVersion, r.since)) &&
			(len(r.archs) == 0 || slices.Contains(r.archs, spec.CPUArchitecture))
	}
	return false
}

// atLeastVersion compares without pre-release parts: 4.14.0-ec.2 is a 4.14.
func atLeastVersion(version, since string) bool {
	v, err := semver.NewVersion(version)
	if err != nil {
		return true
	}
	return !semver.New(v.Major(), v.Minor(), v.Patch(), "", "").LessThan(semver.MustParse(since))
}

// mixedPaths returns the fault of a multipath device's paths; empty: none.
func mixedPaths(paths []*wire.Disk) string {
	const required = reasonMixed + " (all FC, all iSCSI, or all SAS and NVMe), found "
	if len(paths) == 0 {
		return required + "none of its paths"
	}
	for _, p := range paths {
		if kind := pathKinds[p.DriveType]; kind == "" || kind != pathKinds[paths[0].DriveType] {
			return required + "others"
		}
	}
	return ""
}

// pathKinds groups the drive types of paths by the driver that reaches them.
var pathKinds = map[wire.DriveType]string{
	wire.DriveTypeFC: "FC", wire.DriveTypeISCSI: "iSCSI", wire.DriveTypeHDD: "direct", wire.DriveTypeSSD: "direct",
}
