package duesteps_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func TestInstallArgs(t *testing.T) {
	t.Parallel()
	const want = `{
		"boot_device":"/dev/disk/by-id/wwn-0x1","check_cvo":true,"cluster_id":"11111111-0000-4000-8000-000000000000","control_plane_count":3,
		"controller_image":"quay.io/controller:1","disks_to_format":["/dev/sda"],"enable_skip_mco_reboot":true,
		"host_id":"00000000-0000-4000-8000-000000000000","infra_env_id":"22222222-0000-4000-8000-000000000000",
		"installer_args":"[\"--append-karg\",\"ip=52-54-00-aa-bb-00:dhcp\"]","installer_image":"quay.io/installer:1",
		"mco_image":"quay.io/mco:1","must_gather_image":"quay.io/gather:1","notify_num_reboots":true,"openshift_version":"4.22.9",
		"role":"bootstrap","service_ips":["10.0.0.1"]}`
	input := smoke()
	input.Host.Bootstrap, input.CheckClusterVersion, input.ServiceIPs = true, true, []string{"10.0.0.1"}
	for _, step := range []wire.StepType{
		wire.StepTypeInstall, steps.DiskClean, steps.BootstrapStart, steps.IgnitionFetch, steps.ImageWrite,
		steps.ControlPlaneWait, steps.BootkubeWait, steps.ControllerWait, steps.Reboot,
	} {
		got, err := duesteps.Args(step, input)
		require.NoError(t, err)
		require.Len(t, got, 1)
		require.Equal(t, jsonOf(t, want), jsonOf(t, got[0]), step)
	}
}

func TestBootstrapHostsGetTheProgramOfTheController(t *testing.T) {
	t.Parallel()
	input := smoke()
	input.Host.Bootstrap, input.Host.AgentSteps = true, model.FineSteps
	input.Images.CLI = "quay.io/ocp-v4.0-art-dev@sha256:c11"
	input.ControllerPrograms = map[string]wire.AgentProgram{"x86_64": {Path: "/controller/c", SHA256: "abc"}}
	own, err := duesteps.Args(steps.BootstrapStart, input)
	require.NoError(t, err)
	require.NotContains(t, own[0], `"controller":`, "the deployment names an image that contains it")
	require.Contains(t, own[0], `"controller_image":"quay.io/controller:1"`)

	input.Images.Controller = ""
	got, err := duesteps.Args(steps.BootstrapStart, input)
	require.NoError(t, err)
	require.Contains(t, got[0], `"controller_image":"quay.io/ocp-v4.0-art-dev@sha256:c11"`)
	require.Contains(t, got[0], `"controller":{"image":"quay.io/ocp-v4.0-art-dev@sha256:c11","programs":{"x86_64":{"path":"/controller/c","sha256":"abc"}}}`)
}

func request(t *testing.T, change func(*in)) wire.InstallCmdRequest {
	t.Helper()
	input := smoke()
	change(&input)
	got, err := duesteps.InstallRequest(input)
	require.NoError(t, err)
	return got
}

func TestInstallRequest(t *testing.T) {
	t.Parallel()
	suggested := request(t, func(i *in) { i.Host.Role, i.Host.SuggestedRole = model.RoleAutoAssign, model.RoleWorker })
	require.Equal(t, wire.HostRole("worker"), suggested.Role)

	noLinks := request(t, func(i *in) { i.Host.InstallationDiskID = "/dev/sda" })
	require.Equal(t, "/dev/sda", noLinks.BootDevice, "a disk without links has the name of the kernel alone")
	old := request(t, func(i *in) { i.Host.InstallationDiskID = "" })
	require.Equal(t, "/dev/sda", old.BootDevice)

	kept := request(t, func(i *in) { i.Host.SkipFormattingDisks = []string{"/dev/sda"} })
	require.Empty(t, kept.DisksToFormat)

	for _, args := range [][]string{
		{"--save-partlabel", "data"}, {"--save-partlabel=data"}, {"--save-partindex", "-4"}, {"--save-partindex=5-"},
	} {
		saved := request(t, func(i *in) {
			i.Host.InstallerArgs = args
			second := i.Host.Inventory.Disks[0]
			second.ID, second.ByID, second.ByPath, second.Name, second.Path = "/dev/sdb", "", "", "sdb", "/dev/sdb"
			i.Host.Inventory.Disks = append(i.Host.Inventory.Disks, second)
		})
		require.Equal(t, []string{"/dev/sdb"}, saved.DisksToFormat, "the first sector of a disk whose partitions are kept stays")
		require.True(t, saved.SkipInstallationDiskCleanup)
	}

	several := request(t, func(i *in) { i.Images.MustGather["odf"] = "quay.io/odf:1" })
	require.JSONEq(t, `{"ocp":"quay.io/gather:1","odf":"quay.io/odf:1"}`, several.MustGatherImage)

	require.False(t, request(t, func(i *in) { i.Cluster.OpenShiftVersion = "4.14.3" }).EnableSkipMcoReboot)
	require.False(t, request(t, func(i *in) { i.Cluster.CPUArchitecture = "s390x" }).EnableSkipMcoReboot)
	require.False(t, request(t, func(i *in) {
		i.Cluster.CPUArchitecture, i.Host.Inventory.CPU.Architecture = "multi", "s390x"
	}).EnableSkipMcoReboot)
	require.False(t, request(t, func(i *in) { i.Host.Inventory.Disks[0].Path = "/dev/dm-0" }).EnableSkipMcoReboot)
	require.True(t, request(t, func(i *in) { i.Cluster.OpenShiftVersion = "5.0.0-ec.5" }).EnableSkipMcoReboot)
	require.False(t, request(t, func(i *in) { i.KeepMCOReboot = true }).EnableSkipMcoReboot)

	fromDisk := func(i *in) {
		i.Host.Inventory.Boot.DeviceType, i.Images.CoreOS = wire.Persistent, "quay.io/os@sha256:1"
	}
	persistent := request(t, fromDisk)
	require.True(t, persistent.SkipInstallationDiskCleanup)
	require.Equal(t, "quay.io/os@sha256:1", persistent.CoreosImage, "it goes beside the system that runs")
	require.Empty(t, request(t, func(i *in) { i.Images.CoreOS = "quay.io/os@sha256:1" }).CoreosImage, "of a live image")

	require.Empty(t, request(t, func(i *in) { i.Cluster.Proxy.NoProxy = "x" }).Proxy, "no proxy, nothing to go around")
	proxied := request(t, func(i *in) { i.Cluster.Proxy = model.Proxy{HTTP: "http://p", NoProxy: "10.0.0.0/8"} })
	require.Equal(t,
		wire.Proxy{HTTPProxy: "http://p", NoProxy: "10.0.0.0/8,127.0.0.1,localhost,.svc,.cluster.local,api-int.smoke.example.com"},
		proxied.Proxy)
}

func TestExceptionsOfTheProxyAreOnceInTheInstallRequest(t *testing.T) {
	t.Parallel()
	const added = "127.0.0.1,localhost,.svc,.cluster.local,api-int.smoke.example.com"
	for name, c := range map[string]struct{ noProxy, want string }{
		"none": {"", added},
		"entries that are added": {
			"localhost,.svc,192.168.0.0/16", "localhost,.svc,192.168.0.0/16,127.0.0.1,.cluster.local,api-int.smoke.example.com",
		},
		"an entry twice":               {"a.example.com,a.example.com", "a.example.com," + added},
		"a blank":                      {"a.example.com, b.example.com", "a.example.com,b.example.com," + added},
		"a line break of an older row": {"a.example.com,\r\n\tb.example.com\n", "a.example.com,b.example.com," + added},
		"everything":                   {"*", "*"},
		"everything of an older row":   {"*\n", "*"},
		"all that is added":            {added, added},
		"another case": {
			"LOCALHOST,API-INT.smoke.example.com", "localhost,api-int.smoke.example.com,127.0.0.1,.svc,.cluster.local",
		},
		"an IPv6 network in two spellings": {
			"fd00:0::/48,FD00::/48,2001:DB8::1", "fd00:0::/48,2001:db8::1," + added,
		},
	} {
		proxied := request(t, func(i *in) { i.Cluster.Proxy = model.Proxy{HTTPS: "http://p", NoProxy: c.noProxy} })
		require.Equal(t, wire.Proxy{HTTPSProxy: "http://p", NoProxy: c.want}, proxied.Proxy, name)
	}
	moved := request(t, func(i *in) {
		i.Cluster.Proxy = model.Proxy{HTTP: "http://p", NoProxy: "a.example.com"}
		i.Cluster.InstallConfigOverride = `{"proxy":{"httpsProxy":"http://other:3128","httpProxy":"","noProxy":"b.example.com"}}`
	})
	require.Equal(t, wire.Proxy{HTTPSProxy: "http://other:3128", NoProxy: "b.example.com," + added}, moved.Proxy, "the override's")
	nameless := request(t, func(i *in) { i.Cluster.BaseDNSDomain, i.Cluster.Proxy = "", model.Proxy{HTTP: "http://p"} })
	require.Equal(t, "127.0.0.1,localhost,.svc,.cluster.local", nameless.Proxy.NoProxy, "no name ends in a dot")
}

// s390x makes a host a mainframe that was booted with a command line. The parameters of z/VM and LPAR follow openshift/assisted-service
// (internal/host/hostcommands/install_cmd.go, appends390xArgs).
func s390x(commandLine string) func(*in) {
	return func(i *in) {
		i.Host.Inventory.CPU.Architecture, i.Host.Inventory.Boot.CommandLine = "s390x", commandLine
	}
}

// imported makes the networks of the cluster unknown.
func imported(i *in) {
	i.Cluster.Kind, i.Cluster.Imported, i.Cluster.MachineNetworks = model.KindAddHostsCluster, true, nil
	i.Host.Kind = model.KindAddToExistingClusterHost
}

// multipath gives the installation disk iSCSI paths from addresses of the host.
func multipath(addresses ...string) func(*in) {
	return func(i *in) {
		disks := i.Host.Inventory.Disks
		disks[0].Name, disks[0].DriveType = "dm-0", wire.DriveTypeMultipath
		for n, ip := range addresses {
			path := wire.Disk{Name: "sd" + string(rune('x'+n)), DriveType: wire.DriveTypeISCSI, Holders: "dm-0"}
			path.Iscsi.HostIPAddress = ip
			i.Host.Inventory.Disks = append(i.Host.Inventory.Disks, path)
		}
	}
}

func TestInstallerArgs(t *testing.T) {
	t.Parallel()
	const dhcp = "ip=52-54-00-aa-bb-00:dhcp"
	drive := func(d wire.DriveType) func(*in) {
		return func(i *in) { i.Host.Inventory.Disks[0].DriveType = d }
	}
	for _, tt := range []struct {
		name   string
		change func(*in)
		want   []string
	}{
		{"configure the NIC of the machine network", func(*in) {}, []string{"--append-karg", dhcp}},
		{"configure both families", func(i *in) {
			i.Cluster.MachineNetworks = append(i.Cluster.MachineNetworks, netip.MustParsePrefix("fd00::/64"))
			i.Host.Inventory.Interfaces[0].Ipv6Addresses = []string{"fd00::1/64"}
		}, []string{"--append-karg", dhcp + ",dhcp6"}},
		{"configure IPv6 alone", func(i *in) {
			i.Cluster.MachineNetworks = []netip.Prefix{netip.MustParsePrefix("fd00::/64")}
			i.Host.Inventory.Interfaces[1].Ipv6Addresses = []string{"fd00::1/64"}
		}, []string{"--append-karg", "ip=52-54-00-aa-cc-00:dhcp6"}},
		{"configure the NIC of the machine network that an override sets", func(i *in) {
			i.Cluster.InstallConfigOverride = `{"networking":{"machineNetwork":[{"cidr":"10.0.0.0/24"}]}}`
		}, []string{"--append-karg", "ip=52-54-00-aa-cc-00:dhcp"}},
		{"copy a static network", func(i *in) { i.InfraEnv.StaticNetworkConfig = "[]" }, []string{"--copy-network"}},
		{
			"copy it once",
			func(i *in) { i.InfraEnv.StaticNetworkConfig = "[]"; i.Host.InstallerArgs = []string{"--copy-network"} },
			[]string{"--copy-network"},
		},
		{
			"leave the user's network alone",
			func(i *in) { i.Host.InstallerArgs = []string{"--append-karg", "ip=eth0:dhcp"} },
			[]string{"--append-karg", "ip=eth0:dhcp"},
		},
		{
			"copy it once, whichever name the user gave",
			func(i *in) { i.InfraEnv.StaticNetworkConfig = "[]"; i.Host.InstallerArgs = []string{"-n"} },
			[]string{"--copy-network"},
		},
		{
			"leave the user's network alone in one word",
			func(i *in) { i.Host.InstallerArgs = []string{"--append-karg=ip=bond0:dhcp"} },
			[]string{"--append-karg", "ip=bond0:dhcp"},
		},
		{
			"leave it alone among other arguments",
			func(i *in) { i.Host.InstallerArgs = []string{"--append-karg", "rd.neednet=1 ip=bond0:dhcp"} },
			[]string{"--append-karg", "rd.neednet=1 ip=bond0:dhcp"},
		},
		{
			"configure the NIC where the user removes ip=",
			func(i *in) { i.Host.InstallerArgs = []string{"--delete-karg", "ip=auto", "--delete-karg=ip=dhcp"} },
			[]string{"--delete-karg", "ip=auto", "--delete-karg", "ip=dhcp", "--append-karg", dhcp},
		},
		{
			"take no label of a partition for a network",
			func(i *in) { i.Host.InstallerArgs = []string{"--save-partlabel", "ip=data"} },
			[]string{"--save-partlabel", "ip=data", "--append-karg", dhcp},
		},
		{
			"keep partitions up to a number",
			func(i *in) { i.Host.InstallerArgs = []string{"--save-partindex", "-4"} },
			[]string{"--save-partindex", "1-4", "--append-karg", dhcp},
		},
		{"give the parameters of an iSCSI disk once", func(i *in) {
			drive(wire.DriveTypeISCSI)(i)
			i.Host.InstallerArgs = []string{"--append-karg=rd.iscsi.firmware=1"}
			i.Host.Inventory.Disks[0].Iscsi.HostIPAddress = "192.168.10.10"
		}, []string{"--append-karg", "rd.iscsi.firmware=1", "--append-karg", dhcp}},
		{
			"keep the user's arguments first", func(i *in) { i.Host.InstallerArgs = []string{"--append-karg", "nosmt"} },
			[]string{"--append-karg", "nosmt", "--append-karg", dhcp},
		},
		{"know nothing of an existing cluster's network", func(i *in) { i.Host.Kind = model.KindAddToExistingClusterHost }, nil},
		{"are none without a machine network", func(i *in) { i.Cluster.MachineNetworks = nil }, nil},
		{"assemble RAID", drive(wire.DriveTypeRAID), []string{"--append-karg", dhcp, "--append-karg", "rd.md=1", "--append-karg", "rd.auto=1"}},
		{
			"keep several paths", drive(wire.DriveTypeMultipath),
			[]string{"--append-karg", dhcp, "--append-karg", "rw", "--append-karg", "rd.multipath=default"},
		},
		{"reach an iSCSI disk over its NIC", func(i *in) {
			drive(wire.DriveTypeISCSI)(i)
			i.Host.Inventory.Disks[0].Iscsi.HostIPAddress = "10.0.0.10"
		}, []string{"--append-karg", dhcp, "--append-karg", "rd.iscsi.firmware=1", "--append-karg", "ip=52-54-00-aa-cc-00:dhcp"}},
		{"reach all paths of a multipath device over their NICs", multipath("10.0.0.10", "192.168.10.10"), []string{
			"--append-karg", dhcp, "--append-karg", "rw", "--append-karg", "rd.multipath=default",
			"--append-karg", "rd.iscsi.firmware=1", "--append-karg", "ip=52-54-00-aa-cc-00:dhcp",
		}},
		{"leave the NIC of the machine network to the firmware's table on Oracle's cloud", func(i *in) {
			drive(wire.DriveTypeISCSI)(i)
			i.Cluster.Platform = model.Platform{Type: "external", ExternalName: "oci"}
			i.Host.Inventory.Disks[0].Iscsi.HostIPAddress = "10.0.0.10"
		}, []string{"--append-karg", "rd.iscsi.firmware=1", "--append-karg", "ip=52-54-00-aa-cc-00:dhcp"}},
		{"leave an iSCSI disk of an imported cluster's host to the firmware's table", func(i *in) {
			imported(i)
			drive(wire.DriveTypeISCSI)(i)
			i.Host.Inventory.Disks[0].Iscsi.HostIPAddress = "10.0.0.10"
		}, []string{"--append-karg", "rd.iscsi.firmware=1"}},
		{"and a multipath device over it", func(i *in) {
			imported(i)
			multipath("10.0.0.10", "192.168.10.10")(i)
		}, []string{"--append-karg", "rw", "--append-karg", "rd.multipath=default", "--append-karg", "rd.iscsi.firmware=1"}},
		{"take the user's network there", func(i *in) {
			imported(i)
			drive(wire.DriveTypeISCSI)(i)
			i.Host.Inventory.Disks[0].Iscsi.HostIPAddress = "10.0.0.10"
			i.Host.InstallerArgs = []string{"--append-karg", "ip=eth0:dhcp"}
		}, []string{"--append-karg", "ip=eth0:dhcp", "--append-karg", "rd.iscsi.firmware=1"}},
		{"configure the NIC of an iSCSI disk in an imported cluster on Oracle's cloud", func(i *in) {
			imported(i)
			drive(wire.DriveTypeISCSI)(i)
			i.Host.Inventory.SystemVendor.Manufacturer = "OracleCloud.com"
			i.Host.Inventory.Disks[0].Iscsi.HostIPAddress = "10.0.0.10"
		}, []string{"--append-karg", "rd.iscsi.firmware=1", "--append-karg", "ip=52-54-00-aa-cc-00:dhcp"}},
		{"copy the static network of such a host", func(i *in) {
			imported(i)
			drive(wire.DriveTypeISCSI)(i)
			i.InfraEnv.StaticNetworkConfig = "[]"
			i.Host.Inventory.Disks[0].Iscsi.HostIPAddress = "10.0.0.10"
		}, []string{"--copy-network", "--append-karg", "rd.iscsi.firmware=1", "--append-karg", "ip=52-54-00-aa-cc-00:dhcp"}},
		{"configure no NIC alone where the machine network is unknown", func(i *in) {
			drive(wire.DriveTypeISCSI)(i)
			i.Cluster.MachineNetworks = nil
			i.Host.Inventory.Disks[0].Iscsi.HostIPAddress = "10.0.0.10"
		}, []string{"--append-karg", "rd.iscsi.firmware=1"}},
		{"nor for a host added to an installed cluster", func(i *in) {
			drive(wire.DriveTypeISCSI)(i)
			i.Host.Kind = model.KindAddToExistingClusterHost
			i.Host.Inventory.Disks[0].Iscsi.HostIPAddress = "10.0.0.10"
		}, []string{"--append-karg", "rd.iscsi.firmware=1"}},
		{"leave it to the table of machines of Oracle's cloud without the platform", func(i *in) {
			drive(wire.DriveTypeISCSI)(i)
			i.Host.Inventory.SystemVendor.Manufacturer = "OracleCloud.com"
			i.Host.Inventory.Disks[0].Iscsi.HostIPAddress = "10.0.0.10"
		}, []string{"--append-karg", "rd.iscsi.firmware=1", "--append-karg", "ip=52-54-00-aa-cc-00:dhcp"}},
		{"configure it there for a local disk", func(i *in) {
			i.Cluster.Platform = model.Platform{Type: "external", ExternalName: "oci"}
		}, []string{"--append-karg", dhcp}},
		{
			"take the devices of a mainframe over", s390x("ignition.platform.id=metal rd.dasd=0.0.1000 rd.znet=qeth,0.0.1,0.0.2 quiet"),
			[]string{"--append-karg", dhcp, "--append-karg", "rd.dasd=0.0.1000", "--append-karg", "rd.znet=qeth,0.0.1,0.0.2"},
		},
		{
			"take its disks by Fibre Channel over",
			s390x("rd.neednet=1 zfcp.allow_lun_scan=0 rd.zfcp=0.0.8004,0x500507630400d1e3,0x4000404800000000 console=ttysclp0"),
			[]string{
				"--append-karg", dhcp, "--append-karg", "rd.neednet=1", "--append-karg", "zfcp.allow_lun_scan=0",
				"--append-karg", "rd.zfcp=0.0.8004,0x500507630400d1e3,0x4000404800000000",
			},
		},
		{
			"leave addresses of its boot line behind", s390x("rd.neednet=1 ip=10.0.0.3::10.0.0.1:255.255.255.0:m0:encbdd0:none nameserver=10.0.0.1"),
			[]string{"--append-karg", dhcp, "--append-karg", "rd.neednet=1"},
		},
		{
			"take them over where the boot line says so, and no DHCP beside them",
			s390x("rd.neednet=1 ip=10.0.0.3::10.0.0.1:255.255.255.0:m0:encbdd0:none ip=[fd00::3]::[fd00::1]:64::encbdd0:none nameserver=10.0.0.1 " +
				"nameserver=[fd00::1] rd.dasd=0.0.5235 rd.dasd=0.0.5236 ai.ip_cfg_override=1 ipv6.disable=0"),
			[]string{
				"--append-karg", "rd.neednet=1", "--append-karg", "ip=10.0.0.3::10.0.0.1:255.255.255.0:m0:encbdd0:none",
				"--append-karg", "ip=[fd00::3]::[fd00::1]:64::encbdd0:none", "--append-karg", "nameserver=10.0.0.1",
				"--append-karg", "nameserver=[fd00::1]", "--append-karg", "rd.dasd=0.0.5235", "--append-karg", "rd.dasd=0.0.5236",
			},
		},
		{"copy the static network of a mainframe beside them", func(i *in) {
			s390x("rd.neednet=1 ip=10.0.0.3::10.0.0.1:255.255.255.0:m0:encbdd0:none ai.ip_cfg_override=1")(i)
			i.InfraEnv.StaticNetworkConfig = "[]"
		}, []string{
			"--copy-network", "--append-karg", "rd.neednet=1", "--append-karg", "ip=10.0.0.3::10.0.0.1:255.255.255.0:m0:encbdd0:none",
		}},
		{
			"take a parameter without a value over", s390x("rd.neednet rd.dasd.other=1 ipv6.disable=1 ai.ip_cfg_override=1"),
			[]string{"--append-karg", "rd.neednet"},
		},
		{"take nothing over on other machines", func(i *in) {
			i.Host.Inventory.Boot.CommandLine = "rd.neednet=1 rd.dasd=0.0.1000 ip=10.0.0.3::10.0.0.1:255.255.255.0:m0:eth0:none ai.ip_cfg_override=1"
		}, []string{"--append-karg", dhcp}},
		{"take mainframe devices over into an existing cluster of several architectures", func(i *in) {
			s390x("rd.znet=qeth,0.0.1,0.0.2")(i)
			i.Cluster.CPUArchitecture, i.Host.Kind = "multi", model.KindAddToExistingClusterHost
		}, []string{"--append-karg", "rd.znet=qeth,0.0.1,0.0.2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			input := smoke()
			tt.change(&input)
			require.Equal(t, tt.want, duesteps.InstallerArgs(input))
		})
	}
}
