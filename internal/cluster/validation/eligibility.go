package validation

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/wire"
)

// DiskSpec holds the requirements for the disks of a host.
type DiskSpec struct {
	MinSizeGB        int64  // of 10^9 bytes
	OpenShiftVersion string // empty allows what the newest version allows
	CPUArchitecture  string
}

// Reasons of the service begin with one of these, so that a new evaluation replaces them and keeps the agent's.
const (
	reasonSize      = "Require a disk of at least"
	reasonDriveType = "Require a drive type that can be installed to"
	reasonPath      = "Require the multipath device instead of one of its paths"
	reasonMixed     = "Require a multipath device over one kind of path"
	reasonISCSI     = "Require an iSCSI disk away from the default route"
)

var serviceReasons = []string{reasonSize, reasonDriveType, reasonPath, reasonMixed, reasonISCSI}

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

// ApplyDiskEligibility evaluates every disk of an inventory: the agent's reasons against it stay, the service's
// are added, and those of an earlier call are replaced.
func ApplyDiskEligibility(inv *wire.Inventory, spec DiskSpec) {
	routeNICs := defaultRouteNICs(inv)
	for i := range inv.Disks {
		d := &inv.Disks[i]
		e := &d.InstallationEligibility
		reasons := slices.DeleteFunc(slices.Clone(e.NotEligibleReasons), ofService)
		reasons = append(reasons, evaluateDisk(inv, d, spec, routeNICs)...)
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

func evaluateDisk(inv *wire.Inventory, d *wire.Disk, spec DiskSpec, routeNICs []NIC) []string {
	var out []string
	if required := spec.MinSizeGB * gb; int64(d.SizeBytes) < required {
		out = append(out, fmt.Sprintf("%s %d GB, found %.1f GB", reasonSize, spec.MinSizeGB, float64(d.SizeBytes)/float64(gb)))
	}
	if !driveAllowed(d.DriveType, spec) {
		out = append(out, fmt.Sprintf("%s on %s, found %s", reasonDriveType, spec.CPUArchitecture, d.DriveType))
	}
	if partOfMultipath(inv, d) {
		out = append(out, fmt.Sprintf("%s, found %s", reasonPath, d.DriveType))
	}
	if d.DriveType == wire.DriveTypeMultipath && !uniformPaths(Paths(inv, d)) {
		out = append(out, reasonMixed+" (all FC or all iSCSI), found others")
	}
	for _, a := range iscsiAddresses(inv, d) {
		if owns(routeNICs, a) {
			out = append(out, fmt.Sprintf("%s, %s is on its NIC", reasonISCSI, a))
			break
		}
	}
	return out
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

func partOfMultipath(inv *wire.Inventory, d *wire.Disk) bool {
	if d.DriveType != wire.DriveTypeFC && d.DriveType != wire.DriveTypeISCSI {
		return false
	}
	holders := holdersOf(d)
	return slices.ContainsFunc(inv.Disks, func(m wire.Disk) bool {
		return m.DriveType == wire.DriveTypeMultipath && slices.Contains(holders, m.Name)
	})
}

// uniformPaths accepts a device whose paths the inventory does not list.
func uniformPaths(paths []*wire.Disk) bool {
	for _, p := range paths {
		if p.DriveType != paths[0].DriveType || p.DriveType != wire.DriveTypeFC && p.DriveType != wire.DriveTypeISCSI {
			return false
		}
	}
	return true
}

func defaultRouteNICs(inv *wire.Inventory) []NIC {
	names := map[string]bool{}
	for _, r := range inv.Routes {
		if to, err := netip.ParseAddr(r.Destination); err == nil && to.IsUnspecified() && r.Gateway != "" {
			names[r.Interface] = true
		}
	}
	return slices.DeleteFunc(NICs(inv), func(n NIC) bool { return !names[n.Name] })
}
