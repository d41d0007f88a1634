package duesteps_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

var (
	clusterID  = uuid.MustParse("11111111-0000-4000-8000-000000000000")
	infraEnvID = uuid.MustParse("22222222-0000-4000-8000-000000000000")
)

func hostID(i int) uuid.UUID {
	return uuid.MustParse(fmt.Sprintf("00000000-0000-4000-8000-%012d", i))
}

func newHost(i int, role model.Role) *model.Host {
	return &model.Host{
		ID: hostID(i), InfraEnvID: infraEnvID, ClusterID: &clusterID, Kind: model.KindHost, Status: model.HostKnown, Role: role,
		InstallationDiskID: "/dev/disk/by-id/wwn-0x1", InstallationDiskPath: "/dev/sda", DiscoveryAgentVersion: "agent:1",
		Inventory: &wire.Inventory{
			Disks: []wire.Disk{
				{
					ID: "/dev/disk/by-id/wwn-0x1", ByID: "/dev/disk/by-id/wwn-0x1", Name: "sda", Path: "/dev/sda",
					DriveType: wire.DriveTypeSSD, Bootable: true,
				},
			},
			Interfaces: []wire.Interface{
				{Name: "eth0", MacAddress: fmt.Sprintf("52:54:00:AA:BB:%02x", i), Ipv4Addresses: []string{fmt.Sprintf("192.168.10.%d/24", 10+i)}},
				{Name: "eth1", MacAddress: fmt.Sprintf("52:54:00:aa:cc:%02x", i), Ipv4Addresses: []string{fmt.Sprintf("10.0.0.%d/16", 10+i)}},
			},
		},
	}
}

// smoke makes the cluster of the live session in the contract.
func smoke() duesteps.ArgsInput {
	hosts := []*model.Host{
		newHost(0, model.RoleMaster), newHost(1, model.RoleMaster), newHost(2, model.RoleMaster),
		newHost(3, model.RoleWorker),
	}
	return duesteps.ArgsInput{
		Host: hosts[0], Hosts: hosts,
		InfraEnv: &model.InfraEnv{ID: infraEnvID},
		Cluster: &model.Cluster{
			ID: clusterID, Name: "smoke", BaseDNSDomain: "example.com", ControlPlaneCount: 3, OpenShiftVersion: "4.22.9", CPUArchitecture: "x86_64",
			ReleaseImage:    "quay.io/openshift-release-dev/ocp-release:4.22.9-x86_64",
			APIVIPs:         []model.VIP{{IP: netip.MustParseAddr("192.168.10.5")}},
			IngressVIPs:     []model.VIP{{IP: netip.MustParseAddr("192.168.10.6")}},
			MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24")},
		},
		Images: duesteps.Images{
			Installer: "quay.io/installer:1", Controller: "quay.io/controller:1", Release: "quay.io/release:1", MCO: "quay.io/mco:1",
			MustGather: map[string]string{"ocp": "quay.io/gather:1"},
		},
	}
}

type in = duesteps.ArgsInput

// clusterNames are the names that every host of smoke resolves.
var clusterNames = []string{
	"api.smoke.example.com", "api-int.smoke.example.com", "console-openshift-console.apps.smoke.example.com",
	"validateNoWildcardDNS.smoke.example.com.", "validateNoWildcardDNS.smoke.example.com",
}

// domains makes the request that names them.
func domains(names ...string) string {
	return `{"domains":[{"domain_name":"` + strings.Join(names, `"},{"domain_name":"`) + `"}]}`
}

func TestArgs(t *testing.T) {
	t.Parallel()
	gathered := `"cluster_id":"` + clusterID.String() + `","host_id":"` + hostID(0).String() +
		`","infra_env_id":"` + infraEnvID.String() + `","installer_gather":true`
	single := func(s string) []string { return []string{s} }
	for _, tt := range []struct {
		name   string
		step   wire.StepType
		change func(*in)
		want   []string // nil: skipped
	}{
		{"name the host", "inventory", nil, single(hostID(0).String())},
		{
			"limit the inventory", "inventory", func(i *in) { i.MaxInventoryBytes, i.MinDiskBytes = 1000, 5 },
			[]string{hostID(0).String(), "--output-max-size=1000", "--disk-min-size=5"},
		},
		{"list networks small enough to scan", "free-network-addresses", nil, single(`["192.168.10.0/24"]`)},
		{
			"skip networks too large to scan", "free-network-addresses",
			func(i *in) { i.Host.Inventory.Interfaces = i.Host.Inventory.Interfaces[1:] }, nil,
		},
		{"send no source by default", "ntp-synchronizer", nil, single(`{"ntp_source":""}`)},
		{
			"send the sources of the environment", "ntp-synchronizer",
			func(i *in) { i.InfraEnv.NTPSources = []string{"a", "b"} }, single(`{"ntp_source":"a,b"}`),
		},
		{
			"prefer the sources of the cluster", "ntp-synchronizer",
			func(i *in) { i.Cluster.NTPSources = []string{"c"}; i.InfraEnv.NTPSources = []string{"a"} },
			single(`{"ntp_source":"c"}`),
		},
		{"work without a cluster", "ntp-synchronizer", func(i *in) { i.Cluster = nil }, single(`{"ntp_source":""}`)},
		{
			"list the names of the cluster and its registry", "domain-resolution", nil,
			single(domains(slices.Concat(clusterNames, []string{"quay.io"})...)),
		},
		{"skip names while there is no domain", "domain-resolution", func(i *in) { i.Cluster.BaseDNSDomain = "" }, nil},
		{
			"leave a registry that is an address out", "domain-resolution",
			func(i *in) { i.Cluster.ReleaseImage = "127.0.0.1:5000/x:1" }, single(domains(clusterNames...)),
		},
		{
			"list the virtual addresses", "verify-vips", nil,
			single(`[{"vip":"192.168.10.5","vip_type":"api"},{"vip":"192.168.10.6","vip_type":"ingress"}]`),
		},
		{"skip without virtual addresses", "verify-vips", func(i *in) { i.Cluster.APIVIPs, i.Cluster.IngressVIPs = nil, nil }, nil},
		{"skip without encryption", "tang-connectivity-check", nil, nil},
		{"name the Tang servers", "tang-connectivity-check", func(i *in) {
			i.Cluster.DiskEncryption = model.DiskEncryption{EnableOn: "masters", Mode: "tang", TangServers: `[{"url":"http://t"}]`}
		}, single(`{"tang_servers":"[{\"url\":\"http://t\"}]"}`)},
		{
			"skip Tang for other roles", "tang-connectivity-check",
			func(i *in) { i.Cluster.DiskEncryption = model.DiskEncryption{EnableOn: "workers", Mode: "tang"} }, nil,
		},
		{
			"lead to the API of an existing cluster", "api-vip-connectivity-check",
			func(i *in) { i.Host.Role = model.RoleWorker }, single(`{"url":"http://192.168.10.5:22624/config/worker"}`),
		},
		{"lead a master to the pool of masters", "api-vip-connectivity-check", nil, single(`{"url":"http://192.168.10.5:22624/config/master"}`)},
		{
			"lead to the host's own pool by name", "api-vip-connectivity-check",
			func(i *in) { i.Cluster.APIVIPs = nil; i.Host.MachineConfigPoolName = "infra" },
			single(`{"url":"http://api.smoke.example.com:22624/config/infra"}`),
		},
		{"skip leases", "dhcp-lease-allocate", nil, nil},
		{"name disk and limit", "installation-disk-speed-check", nil, []string{`{"path":"/dev/disk/by-id/wwn-0x1"}`, "480.00"}},
		{
			"skip a disk that was checked", "installation-disk-speed-check",
			func(i *in) { i.Host.DiskSpeed = map[string]model.DiskSpeed{"/dev/sda": {Tested: true}} }, nil,
		},
		{"repeat a check that failed", "installation-disk-speed-check", func(i *in) {
			i.Host.DiskSpeed = map[string]model.DiskSpeed{"/dev/sda": {Tested: true, ExitCode: 1}}
			i.DiskCheck = 90 * time.Second
		}, []string{`{"path":"/dev/disk/by-id/wwn-0x1"}`, "90.00"}},
		{
			"skip a disk whose partitions are kept", "installation-disk-speed-check",
			func(i *in) { i.Host.InstallerArgs = []string{"--save-partlabel", "x"} }, nil,
		},
		{
			"list the images", "container-image-availability", nil,
			single(`{"images":["quay.io/release:1","quay.io/mco:1","quay.io/gather:1","quay.io/installer:1"],"timeout":960}`),
		},
		{
			"list the images but the installer's for an agent that brings its own", "container-image-availability",
			func(i *in) { i.Host.AgentSteps = model.FineSteps },
			single(`{"images":["quay.io/release:1","quay.io/mco:1","quay.io/gather:1","quay.io/controller:1"],"timeout":960}`),
		},
		{"skip when all were pulled", "container-image-availability", func(i *in) {
			i.Images = duesteps.Images{Installer: "a"}
			i.Host.Images = []wire.ContainerImageAvailability{{Name: "a", Result: "success"}}
		}, nil},
		{"skip without images", "container-image-availability", func(i *in) { i.Images = duesteps.Images{} }, nil},
		{"always gather the installer's logs", "logs-gather", nil, single(`{"bootstrap":false,` + gathered + `}`)},
		{
			"name the other masters to the bootstrap host", "logs-gather", func(i *in) { i.Host.Bootstrap = true },
			single(`{"bootstrap":true,` + gathered + `,"master_ips":["192.168.10.11","192.168.10.12"]}`),
		},
		{"are none", "stop-installation", nil, []string{}},
		{"name the agent", "upgrade-agent", func(i *in) { i.Images.Agent = "agent:2" }, single(`{"agent_image":"agent:2"}`)},
		{"name the mount of the host", "reboot-for-reclaim", nil, single(`{"host_fs_mount_dir":"/host"}`)},
		{"name the parts of the image", "download-boot-artifacts", func(i *in) {
			i.BootArtifacts = duesteps.BootArtifacts{KernelURL: "k", InitrdURL: "i", RootfsURL: "r"}
		}, single(`{"host_fs_mount_dir":"/host","initrd_url":"i","kernel_url":"k","rootfs_url":"r"}`)},
		{
			"tell an agent who it is", "next-step-runner", nil,
			single(`{"agent_version":"agent:1","host_id":"` + hostID(0).String() + `","infra_env_id":"` + infraEnvID.String() + `"}`),
		},
	} {
		t.Run(string(tt.step)+": "+tt.name, func(t *testing.T) {
			t.Parallel()
			input := smoke()
			if tt.change != nil {
				tt.change(&input)
			}
			got, err := duesteps.Args(tt.step, input)
			if tt.want == nil {
				require.ErrorIs(t, err, duesteps.ErrSkip)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestLeaseArgsStayTheSame(t *testing.T) {
	t.Parallel()
	input := smoke()
	input.Cluster.VIPDHCPAllocation = true
	a, err := duesteps.Args("dhcp-lease-allocate", input)
	require.NoError(t, err)
	input.Host = input.Hosts[1]
	b, err := duesteps.Args("dhcp-lease-allocate", input)
	require.NoError(t, err)
	require.Equal(t, a, b, "every host asks for the same lease")
	var request wire.DhcpAllocationRequest
	require.NoError(t, json.Unmarshal([]byte(a[0]), &request))
	require.Equal(t, "eth0", request.Interface)
	require.NotEqual(t, request.APIVipMac, request.IngressVipMac)
}

func TestConnectivityArgs(t *testing.T) {
	t.Parallel()
	input := smoke()
	input.Hosts[1].Status = model.HostDisconnected
	input.Hosts[2].Inventory = nil
	want := `[{"host_id":"` + hostID(3).String() + `","nics":[` +
		`{"ip_addresses":["192.168.10.13"],"mac":"52:54:00:aa:bb:03","name":"eth0"},` +
		`{"ip_addresses":["10.0.0.13"],"mac":"52:54:00:aa:cc:03","name":"eth1"}]}]`
	got, err := duesteps.Args("connectivity-check", input)
	require.NoError(t, err)
	require.Equal(t, []string{want}, got)

	input.Remotes, err = duesteps.NewRemotes(input.Hosts)
	require.NoError(t, err)
	got, err = duesteps.Args("connectivity-check", input)
	require.NoError(t, err)
	require.Equal(t, []string{want}, got)

	input.Remotes, input.Hosts = nil, input.Hosts[:2]
	_, err = duesteps.Args("connectivity-check", input)
	require.ErrorIs(t, err, duesteps.ErrSkip, "there is no other host to ask about")
}

func TestConnectivityArgsHaveTheMACAddressOfTheUser(t *testing.T) {
	t.Parallel()
	input := smoke()
	input.Hosts = input.Hosts[:2]
	for n, host := range input.Hosts {
		host.Inventory.Interfaces = []wire.Interface{{
			Name: "eno1", MacAddress: fmt.Sprintf("02:00:5E:20:00:0%d", n), CurrentMacAddress: fmt.Sprintf("02:AA:bb:cc:dd:0%d", n),
			Ipv4Addresses: []string{fmt.Sprintf("192.0.2.1%d/24", n)},
		}}
	}
	got, err := duesteps.Args("connectivity-check", input)
	require.NoError(t, err)
	require.Equal(t, []string{`[{"host_id":"` + input.Hosts[1].ID.String() + `","nics":[` +
		`{"ip_addresses":["192.0.2.11"],"mac":"02:00:5e:20:00:01","name":"eno1"},` +
		`{"mac":"02:aa:bb:cc:dd:01","name":"eno1"}]}]`}, got)
}

func TestArgsRefuse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		step   wire.StepType
		change func(*in)
		says   string
	}{
		{"an unknown step", "execute", func(*in) {}, "no such step"},
		{
			"an installation without a disk", "install",
			func(i *in) { i.Host.InstallationDiskPath, i.Host.InstallationDiskID = "", "" }, "installation disk",
		},
		{"an installation without a role", "image-write", func(i *in) { i.Host.Role = model.RoleAutoAssign }, "role"},
		{"an installation without a cluster", "reboot", func(i *in) { i.Cluster = nil }, "unbound"},
		{"a reclaim without an image", "download-boot-artifacts", func(*in) {}, "kernel"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			input := smoke()
			tt.change(&input)
			_, err := duesteps.Args(tt.step, input)
			require.ErrorContains(t, err, tt.says)
			require.NotErrorIs(t, err, duesteps.ErrSkip)
		})
	}
}

func BenchmarkConnectivityArgs(b *testing.B) {
	for _, n := range []int{10, 1000} {
		input := smoke()
		input.Hosts = nil
		for i := range n {
			input.Hosts = append(input.Hosts, newHost(i, model.RoleWorker))
		}
		var err error
		input.Remotes, err = duesteps.NewRemotes(input.Hosts)
		require.NoError(b, err)
		b.Run(fmt.Sprintf("hosts=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := duesteps.Args("connectivity-check", input); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func jsonOf(t *testing.T, text string) (v any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	require.NoError(t, decoder.Decode(&v))
	return v
}

func TestEveryStepTheServiceAsksForHasArguments(t *testing.T) {
	t.Parallel()
	for _, row := range steps.All() {
		require.Equal(t, row.Type != wire.StepTypeExecute, duesteps.HasArguments(row.Type), row.Type)
	}
}
