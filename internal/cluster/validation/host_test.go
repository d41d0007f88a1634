package validation_test

import (
	"encoding/base64"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

const (
	ok      = model.ValidationSuccess
	fails   = model.ValidationFailure
	waits   = model.ValidationPending
	errs    = model.ValidationError
	absent  = model.ValidationStatus("absent")
	gigaRAM = 1 << 30
)

// fixture holds the objects that a case of the table changes.
type fixture struct {
	c     *model.Cluster
	hosts []*model.Host
	h     *model.Host // the host under test
	inv   *wire.Inventory
	facts func(*validation.HostFacts)
}

type hostCase struct {
	name   string
	id     string
	change func(*fixture)
	want   model.ValidationStatus
	says   string // part of the message
}

func noInventory(w *fixture) { w.h.Inventory = nil }
func dayTwo(w *fixture)      { w.h.Kind = model.KindAddToExistingClusterHost }
func singleNode(w *fixture)  { w.c.ControlPlaneCount = 1; w.hosts = w.hosts[:1] }
func unbound(w *fixture)     { w.c = nil }
func userNetworking(w *fixture) {
	w.c.UserManagedNetworking = true
}

func ignition(reply wire.APIVipConnectivityResponse) func(*fixture) {
	return func(w *fixture) {
		dayTwo(w)
		w.h.IgnitionDownload = &reply
	}
}

// fromDisk makes the host join from its disk a cluster with a release, whose workers have a MachineConfig.
func fromDisk(release, machineConfig string) func(*fixture) {
	return func(w *fixture) {
		dayTwo(w)
		w.c.ReleaseImage, w.inv.Boot.DeviceType = release, wire.Persistent
		config := `{"ignition":{"version":"3.2.0"},"storage":{"files":[]}}`
		if machineConfig != "" {
			config = `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/ignition-machine-config-encapsulated.json",` +
				`"contents":{"source":"data:;base64,` + base64.StdEncoding.EncodeToString([]byte(machineConfig)) + `"}}]}}`
		}
		w.h.IgnitionDownload = &wire.APIVipConnectivityResponse{IsSuccess: true, Ignition: validation.Essence(config)}
	}
}

var connectionCases = []hostCase{
	{"passes when it polled a minute ago", "connected", nil, ok, ""},
	{"passes before the first poll", "connected", func(w *fixture) { w.h.CheckedInAt = time.Time{} }, ok, ""},
	{
		"fails after three silent minutes",
		"connected",
		func(w *fixture) { w.h.CheckedInAt = now.Add(-181 * time.Second) },
		fails,
		"every 3m0s",
	},
	{
		"gives the bootstrap host two minutes more",
		"connected",
		func(w *fixture) { w.h.CheckedInAt = now.Add(-4 * time.Minute); w.h.Bootstrap = true },
		ok,
		"",
	},
	{
		"is hidden from the reboot on",
		"connected",
		func(w *fixture) { w.h.CheckedInAt = now.Add(-time.Hour); w.h.Stage = model.StageConfiguring },
		absent,
		"",
	},
	{"is judged before the reboot", "connected", func(w *fixture) {
		w.h.CheckedInAt = now.Add(-time.Hour)
		w.h.Stage = model.StageWritingImageToDisk
	}, fails, ""},
	{"passes with its media", "media-connected", nil, ok, ""},
	{"fails without its media", "media-connected", func(w *fixture) { w.h.MediaStatus = model.MediaDisconnected }, fails, "media"},
	{"passes with a synced source", "ntp-synced", nil, ok, "ntp.example.com"},
	{"fails without a source", "ntp-synced", func(w *fixture) { w.h.NTPSources = nil }, fails, "none"},
	{
		"fails without a synced source",
		"ntp-synced",
		func(w *fixture) { w.h.NTPSources[0].SourceState = wire.SourceStateUnreachable },
		fails,
		"none of 1",
	},
	{"passes with equal clocks", "time-synced-between-host-and-service", nil, ok, ""},
	{"waits for the host's time", "time-synced-between-host-and-service", func(w *fixture) { w.h.Timestamp = 0 }, waits, ""},
	{
		"allows the host to be 20 minutes behind",
		"time-synced-between-host-and-service",
		func(w *fixture) { w.h.Timestamp -= 20 * 60 },
		ok,
		"",
	},
	{
		"fails more than 20 minutes behind",
		"time-synced-between-host-and-service",
		func(w *fixture) { w.h.Timestamp -= 20*60 + 1 },
		fails,
		"behind",
	},
	{"allows the host to be an hour ahead", "time-synced-between-host-and-service", func(w *fixture) { w.h.Timestamp += 3600 }, ok, ""},
	{"fails more than an hour ahead", "time-synced-between-host-and-service", func(w *fixture) { w.h.Timestamp += 3601 }, fails, "ahead"},
	{"passes before images are asked for", "container-images-available", nil, ok, ""},
	{"fails when an image was refused", "container-images-available", func(w *fixture) {
		w.h.Images = []wire.ContainerImageAvailability{{Name: "quay.io/a", Result: wire.ContainerImageAvailabilityResultFailure}}
	}, fails, "quay.io/a"},
	{"fails when an image trickled in", "container-images-available", func(w *fixture) {
		w.h.Images = []wire.ContainerImageAvailability{{Name: "quay.io/a", Result: "success", SizeBytes: 1e9, DownloadRate: 0.0001}}
	}, fails, "quay.io/a"},
	{"passes when the image was there already", "container-images-available", func(w *fixture) {
		w.h.Images = []wire.ContainerImageAvailability{{Name: "quay.io/a", Result: "success"}}
	}, ok, ""},
	{"takes any agent when none is required", "compatible-agent", nil, ok, ""},
	{"fails with another agent", "compatible-agent", func(w *fixture) {
		w.facts = func(f *validation.HostFacts) { f.Options.RequiredAgent = "agent:2" }
	}, fails, "agent:2"},
	{"is hidden once there is a stage", "compatible-agent", func(w *fixture) { w.h.Stage = model.StageInstalling }, absent, ""},
}

var hardwareCases = []hostCase{
	{"passes with an inventory", "has-inventory", nil, ok, ""},
	{"waits for the inventory", "has-inventory", noInventory, waits, ""},
	{"fails when the inventory lacks memory", "has-inventory", func(w *fixture) { w.inv.Memory.PhysicalBytes = 0 }, fails, "memory"},
	{"passes with a whole inventory", "inventory-not-partially-truncated", nil, ok, ""},
	{
		"fails with a partly cut inventory",
		"inventory-not-partially-truncated",
		func(w *fixture) { w.inv.Truncation.Type = "partial" },
		fails,
		"",
	},
	{
		"passes with a fully cut inventory, which the other rule reports",
		"inventory-not-partially-truncated",
		func(w *fixture) { w.inv.Truncation.Type = "full" },
		ok,
		"",
	},
	{"passes with a whole inventory", "inventory-not-fully-truncated", nil, ok, ""},
	{"fails with a fully cut inventory", "inventory-not-fully-truncated", func(w *fixture) { w.inv.Truncation.Type = "full" }, fails, ""},
	{"waits for the inventory", "inventory-not-fully-truncated", noInventory, waits, ""},
	{"passes with 16 cores", "has-min-cpu-cores", nil, ok, ""},
	{"passes with the cores of a worker", "has-min-cpu-cores", func(w *fixture) { w.inv.CPU.Count = 2 }, ok, ""},
	{
		"fails below the cores of a worker",
		"has-min-cpu-cores",
		func(w *fixture) { w.inv.CPU.Count = 1 },
		fails,
		"at least 2 CPU cores for any role, found 1",
	},
	{"waits for the inventory", "has-min-cpu-cores", noInventory, waits, ""},
	{"passes with 64 GiB", "has-min-memory", nil, ok, ""},
	{
		"tolerates 100 MiB the firmware keeps",
		"has-min-memory",
		func(w *fixture) { w.inv.Memory.PhysicalBytes = 8*gigaRAM - 100<<20 },
		ok,
		"",
	},
	{
		"fails below that",
		"has-min-memory",
		func(w *fixture) { w.inv.Memory.PhysicalBytes = 8*gigaRAM - 101<<20 },
		fails,
		"8192 MiB of memory for any role, found 8091 MiB",
	},
	{"tolerates two percent more from meminfo", "has-min-memory", func(w *fixture) {
		w.inv.Memory.PhysicalBytes = 8*gigaRAM - 260<<20
		w.inv.Memory.PhysicalBytesMethod = wire.Meminfo
	}, ok, ""},
	{"passes with a disk", "has-min-valid-disks", nil, ok, ""},
	{"errs without disks", "has-min-valid-disks", func(w *fixture) { w.inv.Disks = nil }, errs, ""},
	{
		"fails without an eligible disk",
		"has-min-valid-disks",
		func(w *fixture) { w.inv.Disks[0].InstallationEligibility.Eligible = false },
		fails,
		"none of 1",
	},
	{"passes with the cores of a master", "has-cpu-cores-for-role", func(w *fixture) { w.inv.CPU.Count = 4 }, ok, ""},
	{
		"fails below the cores of a master",
		"has-cpu-cores-for-role",
		func(w *fixture) { w.inv.CPU.Count = 3 },
		fails,
		"at least 4 CPU cores for the role master, found 3",
	},
	{"counts the suggested role", "has-cpu-cores-for-role", func(w *fixture) {
		w.inv.CPU.Count = 3
		w.h.Role, w.h.SuggestedRole = model.RoleAutoAssign, model.RoleWorker
	}, ok, ""},
	{"wants four cores of a single node from 4.22 on", "has-cpu-cores-for-role", func(w *fixture) {
		singleNode(w)
		w.inv.CPU.Count = 3
	}, fails, "at least 4 CPU cores"},
	{"passes with the memory of a master", "has-memory-for-role", func(w *fixture) { w.inv.Memory.PhysicalBytes = 16 * gigaRAM }, ok, ""},
	{
		"fails below the memory of a master",
		"has-memory-for-role",
		func(w *fixture) { w.inv.Memory.PhysicalBytes = 15 * gigaRAM },
		fails,
		"16384 MiB",
	},
	{
		"wants less of an arbiter",
		"has-memory-for-role",
		func(w *fixture) { w.inv.Memory.PhysicalBytes = 8 * gigaRAM; w.h.Role = model.RoleArbiter },
		ok,
		"",
	},
	{"is not judged without a role to have", "has-memory-for-role", unbound, absent, ""},
	{"passes with a DNS name", "hostname-valid", nil, ok, ""},
	{
		"prefers the requested name",
		"hostname-valid",
		func(w *fixture) { w.inv.Hostname = "localhost"; w.h.RequestedHostname = "m0.example.com" },
		ok,
		"",
	},
	{"refuses the name every machine has", "hostname-valid", func(w *fixture) { w.inv.Hostname = "localhost" }, fails, "localhost"},
	{"refuses capitals", "hostname-valid", func(w *fixture) { w.inv.Hostname = "Node-0" }, fails, "lower case"},
	{"refuses a leading hyphen", "hostname-valid", func(w *fixture) { w.inv.Hostname = "-node" }, fails, ""},
	{"waits for the inventory", "hostname-valid", noInventory, waits, ""},
	{"passes with a name of its own", "hostname-unique", nil, ok, ""},
	{
		"fails with the name of another host",
		"hostname-unique",
		func(w *fixture) { w.hosts[2].RequestedHostname = "node-0" },
		fails,
		"2 hosts",
	},
	{
		"ignores hosts without an inventory",
		"hostname-unique",
		func(w *fixture) { w.hosts[2].RequestedHostname = "node-0"; w.hosts[2].Inventory = nil },
		ok,
		"",
	},
	{"passes on any machine on bare metal", "compatible-with-cluster-platform", nil, ok, ""},
	{
		"fails on another maker's machine",
		"compatible-with-cluster-platform",
		func(w *fixture) { w.c.Platform.Type = "vsphere" },
		fails,
		"VMware",
	},
	{"passes on the platform's machine", "compatible-with-cluster-platform", func(w *fixture) {
		w.c.Platform.Type = "nutanix"
		w.inv.SystemVendor.Manufacturer = "Nutanix"
	}, ok, ""},
	{
		"takes any machine on an external platform",
		"compatible-with-cluster-platform",
		func(w *fixture) { w.c.Platform = model.Platform{Type: "external", ExternalName: "x"} },
		ok,
		"",
	},
	{
		"wants Oracle's machines in Oracle's cloud",
		"compatible-with-cluster-platform",
		func(w *fixture) { w.c.Platform = model.Platform{Type: "external", ExternalName: "oci"} },
		fails,
		"Oracle",
	},
	{"does not concern other makers", "vsphere-disk-uuid-enabled", nil, absent, ""},
	{
		"passes with disks that have a UUID",
		"vsphere-disk-uuid-enabled",
		func(w *fixture) { w.inv.SystemVendor.Manufacturer = "VMware, Inc." },
		ok,
		"",
	},
	{"fails with a disk that has none", "vsphere-disk-uuid-enabled", func(w *fixture) {
		w.inv.SystemVendor.Manufacturer = "VMware, Inc."
		w.inv.Disks[0].HasUUID = false
	}, fails, "sda"},
}

var diskCases = []hostCase{
	{"passes before the check", "sufficient-installation-disk-speed", nil, ok, ""},
	{"passes however slow the disk is", "sufficient-installation-disk-speed", func(w *fixture) {
		w.h.DiskSpeed = map[string]model.DiskSpeed{"/dev/sda": {Tested: true, SyncDurationMS: 900}}
	}, ok, ""},
	{"fails when the check broke", "sufficient-installation-disk-speed", func(w *fixture) {
		w.h.DiskSpeed = map[string]model.DiskSpeed{"/dev/sda": {Tested: true, ExitCode: 124}}
	}, fails, "124"},
	{"passes without a list of disks to keep", "no-skip-installation-disk", nil, ok, "/dev/sda (everything)"},
	{
		"says which partitions are kept", "no-skip-installation-disk",
		func(w *fixture) {
			w.h.InstallerArgs = []string{"--save-partlabel", "data,logs-*", "--save-partindex=5-"}
		}, ok, "everything but partitions labelled data or logs-* and those numbered 5-",
	},
	{
		"names every disk that loses something", "no-skip-installation-disk",
		func(w *fixture) {
			w.inv.Disks[0].Holders = "dm-0"
			w.inv.Disks = append(w.inv.Disks, disk("sdb", "SSD", func(d *wire.Disk) { d.Bootable = true }), disk("sdc", "SSD"),
				disk("sdd", "SSD", func(d *wire.Disk) { d.Holders = "dm-0" }))
		}, ok, "/dev/sdb (its partition table: it is bootable and not in disks_skip_formatting); " +
			"/dev/sdd (the volumes that it has in common with /dev/sda)",
	},
	{
		"names the paths of a multipath disk", "no-skip-installation-disk",
		func(w *fixture) {
			w.inv.Disks[0].Holders = "dm-0"
			w.inv.Disks = append(w.inv.Disks, disk("dm-0", "Multipath"))
			w.h.InstallationDiskID, w.h.InstallationDiskPath = "", "/dev/dm-0"
		}, ok, "/dev/sda (the same: /dev/dm-0 is built on it)",
	},
	{
		"says that the system which runs is kept", "no-skip-installation-disk",
		func(w *fixture) { w.inv.Boot.DeviceType = wire.Persistent }, ok, "/dev/sda (nothing: the system is installed beside the running one)",
	},
	{
		"fails when the installation disk is to be kept",
		"no-skip-installation-disk",
		func(w *fixture) { w.h.SkipFormattingDisks = []string{"/dev/sda"} },
		fails,
		"/dev/sda",
	},
	{"passes when all disks to keep exist", "no-skip-missing-disk", func(w *fixture) { w.h.SkipFormattingDisks = []string{"sda"} }, ok, ""},
	{
		"fails when a disk to keep is missing",
		"no-skip-missing-disk",
		func(w *fixture) { w.h.SkipFormattingDisks = []string{"/dev/sdz"} },
		fails,
		"/dev/sdz",
	},
	{"does not concern plain disks", "disk-encryption-requirements-satisfied", nil, absent, ""},
	{
		"passes with TPM 2.0",
		"disk-encryption-requirements-satisfied",
		func(w *fixture) { w.c.DiskEncryption = model.DiskEncryption{EnableOn: "all", Mode: "tpmv2"} },
		ok,
		"",
	},
	{"fails with TPM 1.2", "disk-encryption-requirements-satisfied", func(w *fixture) {
		w.c.DiskEncryption = model.DiskEncryption{EnableOn: "masters,workers", Mode: "tpmv2"}
		w.inv.TpmVersion = wire.InventoryTpmVersionN12
	}, fails, "found 1.2"},
	{
		"does not concern other roles",
		"disk-encryption-requirements-satisfied",
		func(w *fixture) { w.c.DiskEncryption = model.DiskEncryption{EnableOn: "workers", Mode: "tpmv2"} },
		absent,
		"",
	},
	{"waits for the role", "disk-encryption-requirements-satisfied", func(w *fixture) {
		w.c.DiskEncryption = model.DiskEncryption{EnableOn: "workers", Mode: "tpmv2"}
		w.h.Role = model.RoleAutoAssign
	}, waits, ""},
	{
		"waits for the Tang servers",
		"disk-encryption-requirements-satisfied",
		func(w *fixture) { w.c.DiskEncryption = model.DiskEncryption{EnableOn: "all", Mode: "tang"} },
		waits,
		"",
	},
	{"fails when a Tang server does not answer", "disk-encryption-requirements-satisfied", func(w *fixture) {
		w.c.DiskEncryption = model.DiskEncryption{EnableOn: "all", Mode: "tang"}
		w.h.Tang = &wire.TangConnectivityResponse{}
	}, fails, ""},
	{"passes when all Tang servers answer", "disk-encryption-requirements-satisfied", func(w *fixture) {
		w.c.DiskEncryption = model.DiskEncryption{EnableOn: "all", Mode: "tang"}
		w.h.Tang = &wire.TangConnectivityResponse{IsSuccess: true}
	}, ok, ""},
	{"waits for the configuration of an existing cluster", "disk-encryption-requirements-satisfied", dayTwo, waits, ""},
	{
		"follows the workers of an existing cluster", "disk-encryption-requirements-satisfied",
		ignition(wire.APIVipConnectivityResponse{IsSuccess: true, Ignition: `{"storage":{"luks":[{"clevis":{"tpm2":true}}]}}`}), ok, "",
	},
	{
		"does not concern an existing cluster without encryption", "disk-encryption-requirements-satisfied",
		ignition(wire.APIVipConnectivityResponse{IsSuccess: true, Ignition: `{}`}), absent, "",
	},
}

var networkCases = []hostCase{
	{"passes with a machine network", "machine-cidr-defined", nil, ok, ""},
	{"fails without one", "machine-cidr-defined", func(w *fixture) { w.c.MachineNetworks = nil }, fails, ""},
	{
		"needs none with the user's networking",
		"machine-cidr-defined",
		func(w *fixture) { w.c.MachineNetworks = nil; userNetworking(w) },
		ok,
		"",
	},
	{
		"needs none for a single node with the user's networking",
		"machine-cidr-defined",
		func(w *fixture) { w.c.MachineNetworks = nil; userNetworking(w); singleNode(w) },
		ok,
		"",
	},
	{"needs none on day two", "machine-cidr-defined", func(w *fixture) { w.c.MachineNetworks = nil; dayTwo(w) }, ok, ""},
	{"passes inside the machine network", "belongs-to-machine-cidr", nil, ok, ""},
	{"fails outside", "belongs-to-machine-cidr", func(w *fixture) { w.c.MachineNetworks = prefixes("10.0.0.0/8") }, fails, "10.0.0.0/8"},
	{
		"wants every machine network",
		"belongs-to-machine-cidr",
		func(w *fixture) { w.c.MachineNetworks = prefixes("192.168.8.0/21", "10.0.0.0/8") },
		fails,
		"10.0.0.0/8",
	},
	{"wants one machine network with an external load balancer", "belongs-to-machine-cidr", func(w *fixture) {
		w.c.MachineNetworks = prefixes("192.168.8.0/21", "10.0.0.0/8")
		w.c.LoadBalancer = "user-managed"
	}, ok, ""},
	{"waits for the machine network", "belongs-to-machine-cidr", func(w *fixture) { w.c.MachineNetworks = nil }, waits, ""},
	{
		"passes anywhere with the user's networking",
		"belongs-to-machine-cidr",
		func(w *fixture) { w.c.MachineNetworks = prefixes("10.0.0.0/8"); userNetworking(w) },
		ok,
		"",
	},
	{"judges the bootstrap host with the user's networking", "belongs-to-machine-cidr", func(w *fixture) {
		w.c.MachineNetworks = prefixes("10.0.0.0/8")
		userNetworking(w)
		w.h.Bootstrap = true
	}, fails, ""},
	{"does not concern day one", "ignition-downloadable", nil, absent, ""},
	{"waits on day two", "ignition-downloadable", dayTwo, waits, ""},
	{"passes when the configuration came", "ignition-downloadable", ignition(wire.APIVipConnectivityResponse{IsSuccess: true}), ok, ""},
	{
		"fails when it did not",
		"ignition-downloadable",
		ignition(wire.APIVipConnectivityResponse{DownloadError: "refused"}),
		fails,
		"refused",
	},
	{
		"fails from a disk when it is unknown what the workers run", "ignition-downloadable",
		fromDisk("", `{"spec":{"kernelArguments":[]}}`), fails, "found no osImageURL",
	},
	{"fails from a disk without a MachineConfig", "ignition-downloadable", fromDisk("", ""), fails, "found no osImageURL"},
	{"fails from a disk with another document", "ignition-downloadable", fromDisk("", "[]"), fails, "found no osImageURL"},
	{
		"passes from a disk with what the workers run", "ignition-downloadable",
		fromDisk("", `{"spec":{"osImageURL":"quay.io/os@sha256:1"}}`), ok, "",
	},
	{"passes from a disk with a release", "ignition-downloadable", fromDisk("quay.io/release@sha256:1", ""), ok, ""},
	{"passes with a default route", "has-default-route", nil, ok, "eth0"},
	{"fails without a gateway", "has-default-route", func(w *fixture) { w.inv.Routes[0].Gateway = "" }, fails, ""},
	{"fails with other routes only", "has-default-route", func(w *fixture) { w.inv.Routes[0].Destination = "10.0.0.0" }, fails, ""},
	{"takes an IPv6 route", "has-default-route", func(w *fixture) {
		w.inv.Routes[0] = wire.Route{Family: 10, Destination: "::", Gateway: "fd00::1", Interface: "eth1"}
	}, ok, "eth1"},
	{"passes with one NIC a network", "non-overlapping-subnets", nil, ok, ""},
	{"fails with two NICs in a network", "non-overlapping-subnets", func(w *fixture) {
		w.inv.Interfaces = append(w.inv.Interfaces, wire.Interface{Name: "eth1", Ipv4Addresses: []string{"192.168.9.9/24"}})
	}, fails, "eth1"},
	{"allows two addresses on one NIC", "non-overlapping-subnets", func(w *fixture) {
		w.inv.Interfaces[0].Ipv4Addresses = append(w.inv.Interfaces[0].Ipv4Addresses, "192.168.8.200/32")
	}, ok, ""},
	{"ignores the family the cluster does not use", "non-overlapping-subnets", func(w *fixture) {
		w.inv.Interfaces[0].Ipv6Addresses = []string{"fd00::1/64"}
		w.inv.Interfaces = append(w.inv.Interfaces, wire.Interface{Name: "eth1", Ipv6Addresses: []string{"fd00::2/64"}})
	}, ok, ""},
	{"passes on machines that let addresses through", "valid-platform-network-settings", nil, ok, ""},
	{
		"fails on OpenStack",
		"valid-platform-network-settings",
		func(w *fixture) { w.inv.SystemVendor.ProductName = "OpenStack Compute" },
		fails,
		"OpenStack",
	},
	{"passes on OpenStack with the user's networking", "valid-platform-network-settings", func(w *fixture) {
		w.inv.SystemVendor.ProductName = "OpenStack Compute"
		userNetworking(w)
	}, ok, ""},
	{"says nothing of unbound OpenStack machines", "valid-platform-network-settings", func(w *fixture) {
		w.inv.SystemVendor.ProductName = "OpenStack Compute"
		unbound(w)
	}, absent, ""},
	{"passes without collisions", "no-ip-collisions-in-network", nil, ok, ""},
	{"fails when another machine has its address", "no-ip-collisions-in-network", func(w *fixture) {
		w.c.Connectivity.IPCollisions = map[string][]string{hostIP(0): {"a", "b"}}
	}, fails, hostIP(0)},
	{"ignores collisions of other hosts", "no-ip-collisions-in-network", func(w *fixture) {
		w.c.Connectivity.IPCollisions = map[string][]string{hostIP(1): {"a", "b"}}
	}, ok, ""},
	{"fails with the MAC address of another host", "no-ip-collisions-in-network", func(w *fixture) {
		w.inv.Interfaces[0].MacAddress = "02:00:00:00:00:0A"
		w.hosts[1].Inventory.Interfaces[0].MacAddress = "02:00:00:00:00:0a"
	}, fails, "node-1 has 02:00:00:00:00:0a too"},
	{"passes with a shared MAC address outside the machine network", "no-ip-collisions-in-network", func(w *fixture) {
		shared := wire.Interface{Name: "usb0", MacAddress: "02:00:00:00:00:0a", Ipv4Addresses: []string{"169.254.95.120/24"}}
		for _, h := range w.hosts { // of a management controller
			h.Inventory.Interfaces = append([]wire.Interface{shared}, h.Inventory.Interfaces...)
		}
	}, ok, ""},
	{"fails when a user gave two hosts one MAC address", "no-ip-collisions-in-network", func(w *fixture) {
		w.inv.Interfaces[0].CurrentMacAddress = "02:AA:BB:CC:DD:01"
		w.hosts[1].Inventory.Interfaces[0].CurrentMacAddress = "02:aa:bb:cc:dd:01"
	}, fails, "node-1 has 02:aa:bb:cc:dd:01 too"},
	{"fails with the MAC address that a user gave another host", "no-ip-collisions-in-network", func(w *fixture) {
		w.inv.Interfaces[0].MacAddress = "02:aa:bb:cc:dd:01"
		w.hosts[1].Inventory.Interfaces[0].CurrentMacAddress = "02:aa:bb:cc:dd:01"
	}, fails, "node-1 has 02:aa:bb:cc:dd:01 too"},
	{"passes when a user changed a MAC address that two hosts have", "no-ip-collisions-in-network", func(w *fixture) {
		w.inv.Interfaces[0].MacAddress = "02:00:00:00:00:0a"
		w.hosts[1].Inventory.Interfaces[0].MacAddress = "02:00:00:00:00:0a"
		w.hosts[1].Inventory.Interfaces[0].CurrentMacAddress = "02:aa:bb:cc:dd:01"
	}, ok, ""},
	{"leaves MAC addresses to users who manage the network", "no-ip-collisions-in-network", func(w *fixture) {
		w.c.UserManagedNetworking = true
		w.inv.Interfaces[0].MacAddress = w.hosts[1].Inventory.Interfaces[0].MacAddress
	}, ok, ""},
	{"does not concern local disks", "no-iscsi-nic-belongs-to-machine-cidr", nil, absent, ""},
	{
		"fails when the iSCSI NIC is in the machine network",
		"no-iscsi-nic-belongs-to-machine-cidr",
		func(w *fixture) { iscsi(w, hostIP(0)) },
		fails,
		"eth0",
	},
	{"passes when it is outside", "no-iscsi-nic-belongs-to-machine-cidr", func(w *fixture) {
		w.inv.Interfaces = append(w.inv.Interfaces, wire.Interface{Name: "eth1", Ipv4Addresses: []string{"10.9.9.9/24"}})
		iscsi(w, "10.9.9.9")
	}, ok, ""},
	{"looks through a multipath device", "no-iscsi-nic-belongs-to-machine-cidr", func(w *fixture) {
		iscsi(w, hostIP(0))
		path := w.inv.Disks[0]
		path.Name, path.ID, path.ByID, path.ByPath, path.Path, path.Holders = "sdb", "sdb", "", "", "/dev/sdb", "sda"
		w.inv.Disks = append(w.inv.Disks, path)
		w.inv.Disks[0].DriveType = wire.DriveTypeMultipath
	}, fails, "eth0"},
	{"is never judged", "release-domain-name-resolved-correctly", nil, absent, ""},
}

func iscsi(w *fixture, addr string) {
	w.inv.Disks[0].DriveType = wire.DriveTypeISCSI
	w.inv.Disks[0].Iscsi.HostIPAddress = addr
}

// allHostCases lists the cases of every group, without the operators'.
func allHostCases() []hostCase {
	return slices.Concat(connectionCases, hardwareCases, diskCases, networkCases, dnsCases, connectivityCases, dayTwoCases, waitingCases)
}

// evaluate returns the result of a case's rule.
func (tt hostCase) evaluate() model.ValidationResult {
	c, hosts := fleet(5)
	w := &fixture{c: c, hosts: hosts, h: hosts[0], inv: hosts[0].Inventory}
	if tt.change != nil {
		tt.change(w)
	}
	facts := validation.HostFacts{Host: w.h, Cluster: w.c}
	if w.c != nil {
		facts = hostFacts(w.c, w.hosts)
	}
	facts.Now, facts.Options = now, validation.DefaultOptions()
	if w.facts != nil {
		w.facts(&facts)
	}
	got, shown := find(validation.Host(facts), tt.id)
	if !shown {
		got.Status = absent
	}
	return got
}

func TestHostRules(t *testing.T) {
	t.Parallel()
	for _, tt := range allHostCases() {
		t.Run(tt.id+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.evaluate()
			require.Equal(t, tt.want, got.Status, got.Message)
			require.Contains(t, got.Message, tt.says)
		})
	}
	for _, r := range validation.HostRules() {
		require.NotEmpty(t, r.Why, r.ID)
	}
}

func TestHostOfFleetPassesEverything(t *testing.T) {
	t.Parallel()
	c, hosts := fleet(5)
	for _, r := range validation.Host(hostFacts(c, hosts)) {
		require.Equal(t, ok, r.Status, "%s: %s", r.ID, r.Message)
	}
}

func TestUnboundHostShowsWhatNeedsNoCluster(t *testing.T) {
	t.Parallel()
	h := newHost(0)
	h.ClusterID = nil
	results := validation.Host(validation.HostFacts{Host: h, Options: validation.DefaultOptions(), Now: now})
	var ids []string
	for _, r := range results {
		require.Equal(t, ok, r.Status, "%s: %s", r.ID, r.Message)
		ids = append(ids, r.ID)
	}
	require.Equal(t, []string{
		"connected", "media-connected", "has-inventory", "inventory-not-partially-truncated", "inventory-not-fully-truncated",
		"has-min-cpu-cores", "has-min-memory", "has-min-valid-disks", "hostname-valid", "valid-platform-network-settings",
		"ntp-synced", "time-synced-between-host-and-service", "container-images-available", "sufficient-installation-disk-speed",
		"has-default-route", "compatible-agent", "no-skip-installation-disk", "no-skip-missing-disk",
	}, ids)
}

func TestRequirementsOf(t *testing.T) {
	t.Parallel()
	c, hosts := fleet(3)
	all := hostFacts(c, hosts).Requirements
	edge := newHost(4).Inventory
	edge.CPU.Architecture, edge.SystemVendor.ProductName = "aarch64", "BlueField SoC"
	opts := validation.DefaultOptions()
	require.Equal(t, all.Master, validation.RequirementsOf(all, model.RoleMaster, c, nil, opts))
	require.Equal(t, all.Arbiter, validation.RequirementsOf(all, model.RoleArbiter, c, nil, opts))
	require.Equal(t, all.Worker, validation.RequirementsOf(all, model.RoleAutoAssign, nil, nil, opts))
	require.Equal(t, all.EdgeWorker, validation.RequirementsOf(all, model.RoleWorker, c, edge, opts))
	c.ControlPlaneCount = 1
	require.Equal(t, all.SNO, validation.RequirementsOf(all, model.RoleMaster, c, nil, opts))
	require.Equal(t, all.Worker, validation.RequirementsOf(all, model.RoleWorker, c, nil, opts))
}
