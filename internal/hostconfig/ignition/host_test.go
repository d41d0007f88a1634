package ignition_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
	"slipway/internal/wire"
)

const pointer = `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://api-int.one.example.com:22623/config/worker"}]},"security":{"tls":{"certificateAuthorities":[{"source":"data:,CA"}]}}}}`

func host() *model.Host {
	return &model.Host{
		ID: uuid.MustParse("860a83fc-0331-4664-97de-c650a7c77e9b"), Role: model.RoleWorker, RequestedHostname: "worker-0",
		Inventory: &wire.Inventory{
			Hostname: "localhost", CPU: wire.CPU{Architecture: "x86_64", Count: 8},
			Memory: wire.Memory{PhysicalBytes: 16 << 30},
			Disks:  []wire.Disk{{Name: "sda", Path: "/dev/sda", DriveType: wire.DriveTypeHDD, SizeBytes: 100}},
			Interfaces: []wire.Interface{
				{
					Name:          "eth0",
					MacAddress:    "52:54:00:AA:bb:01",
					Ipv4Addresses: []string{"192.168.10.11/24"},
					Ipv6Addresses: []string{"fd00::11/64"},
				},
			},
		},
	}
}

func fileContent(t *testing.T, config []byte, path string) string {
	t.Helper()
	d, err := document.Parse(config)
	require.NoError(t, err)
	f, err := d.File(path)
	require.NoError(t, err)
	data, err := f.Content()
	require.NoError(t, err)
	return string(data)
}

func TestHostConfig(t *testing.T) {
	t.Parallel()
	h := host()
	h.MachineConfigPoolName = "infra"
	h.IgnitionConfigOverrides = `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/mine","contents":{"source":"data:,mine"}}]}}`
	config, err := ignition.Host(ignition.HostInput{Host: h, Role: []byte(pointer), NodeIPHint: netip.MustParseAddr("192.168.10.0")})
	require.NoError(t, err)
	require.Equal(t, "worker-0", fileContent(t, config, "/etc/hostname"))
	require.Equal(t, "KUBELET_NODEIP_HINT=192.168.10.0\n", fileContent(t, config, "/etc/default/nodeip-configuration"))
	require.Equal(t, "mine", fileContent(t, config, "/etc/mine"))
	var got struct {
		Ignition struct {
			Version string
			Config  struct{ Merge []struct{ Source string } }
		}
	}
	require.NoError(t, json.Unmarshal(config, &got))
	require.Equal(t, "3.2.0", got.Ignition.Version)
	require.Equal(t, "https://api-int.one.example.com:22623/config/infra", got.Ignition.Config.Merge[0].Source)
	require.Contains(t, string(config), "data:,CA")
}

func TestHostConfigOfASingleNode(t *testing.T) {
	t.Parallel()
	config, err := ignition.Host(ignition.HostInput{Host: host(), Role: []byte(ignition.Empty)})
	require.NoError(t, err)
	d, err := document.Parse(config)
	require.NoError(t, err)
	require.Len(t, d.Files(), 1)
	require.Equal(t, "/etc/hostname", d.Files()[0].Path)
}

func TestHostConfigNamesTheFaultOfAnOverride(t *testing.T) {
	t.Parallel()
	h := host()
	h.IgnitionConfigOverrides = `{"ignition":{"version":"3.1.0"},"systemd":{"units":[{"name":"a","contents":"x"}]}}`
	_, err := ignition.Host(ignition.HostInput{Host: h, Role: []byte(pointer)})
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "ignition_config_overrides: invalid Ignition config: $.systemd.units.0")
}

func TestCheckOverride(t *testing.T) {
	t.Parallel()
	require.NoError(t, ignition.CheckOverride(""))
	require.NoError(t, ignition.CheckOverride(`{"ignition":{"version":"3.2.0"}}`))
	require.ErrorIs(t, ignition.CheckOverride(`{"ignition":{"version":"9.9.9"}}`), model.ErrInvalid)
	require.ErrorContains(t, ignition.CheckOverride(strings.Repeat(" ", 1<<20+1)), "at most 1048576 bytes")
}

func TestRoleConfig(t *testing.T) {
	t.Parallel()
	config, err := ignition.Role(ignition.RoleInput{Config: []byte(pointer)})
	require.NoError(t, err)
	require.JSONEq(t, pointer, string(config))
	config, err = ignition.Role(ignition.RoleInput{Config: []byte(pointer), ServiceCA: ca, IPv6: true})
	require.NoError(t, err)
	require.Equal(t, ca, fileContent(t, config, ignition.ServiceCAPath))
	require.Contains(t, fileContent(t, config, "/etc/NetworkManager/conf.d/01-ipv6.conf"), "ipv6.dhcp-duid=ll")
	_, err = ignition.Role(ignition.RoleInput{Config: []byte("{}")})
	require.ErrorIs(t, err, model.ErrInvalid)
}

func TestRoleConfigKeepsVirtualAddressesOfDHCPAlive(t *testing.T) {
	t.Parallel()
	config, err := ignition.Role(ignition.RoleInput{Config: []byte(pointer), VIPLeases: &ignition.VIPLeases{
		API: ignition.VIPLease{
			IP:    netip.MustParseAddr("192.168.10.5"),
			MAC:   "02:00:00:00:00:01",
			Lease: "lease {\n  fixed-address 192.168.10.5;\n}\n",
		},
		Ingress: ignition.VIPLease{IP: netip.MustParseAddr("192.168.10.6"), MAC: "02:00:00:00:00:02"},
	}})
	require.NoError(t, err)
	var monitor map[string]map[string]string
	require.NoError(t, yaml.Unmarshal([]byte(fileContent(t, config, "/etc/keepalived/unsupported-monitor.conf")), &monitor))
	require.Equal(t, map[string]map[string]string{
		"api-vip":     {"name": "api", "mac-address": "02:00:00:00:00:01", "ip-address": "192.168.10.5"},
		"ingress-vip": {"name": "ingress", "mac-address": "02:00:00:00:00:02", "ip-address": "192.168.10.6"},
	}, monitor)
	require.Equal(t, "lease {\n  fixed-address 192.168.10.5;\n}\n", fileContent(t, config, "/etc/keepalived/lease-api"))
	require.NotContains(t, string(config), "lease-ingress", "nothing is known of that lease")
}

func TestHostConfigRemovesTheSystemItWasDiscoveredWith(t *testing.T) {
	t.Parallel()
	h := host()
	h.Inventory.Boot.DeviceType = wire.Persistent
	config, err := ignition.Host(ignition.HostInput{Host: h, Role: []byte(pointer)})
	require.NoError(t, err)
	require.Contains(t, fileContent(t, config, "/usr/local/bin/remove-old-root"), "/sysroot/ostree/deploy")
	require.Contains(t, string(config), "remove-old-root.service")
	h.Inventory.Boot.DeviceType = wire.Ephemeral
	config, err = ignition.Host(ignition.HostInput{Host: h, Role: []byte(pointer)})
	require.NoError(t, err)
	require.NotContains(t, string(config), "remove-old-root")
}

func TestHostFileName(t *testing.T) {
	t.Parallel()
	require.Equal(t, "master-860a83fc-0331-4664-97de-c650a7c77e9b.ign", ignition.HostFileName(model.RoleMaster, host().ID))
}

// bootstrapConfig makes a config like the installer's: a motd that adds, a BareMetalHost, and size.
func bootstrapConfig() []byte {
	manifest := "kind: BareMetalHost\nmetadata:\n  name: one-worker-0\nspec:\n  bootMACAddress: 52:54:00:aa:bb:01\n"
	var big strings.Builder
	for i := range 300 {
		fmt.Fprintf(
			&big,
			`,{"path":"/opt/openshift/manifests/%d.yaml","mode":384,"contents":{"source":"data:,%s"}}`,
			i,
			strings.Repeat("x", 10_000),
		)
	}
	source, _ := json.Marshal("data:," + strings.ReplaceAll(strings.ReplaceAll(manifest, "\n", "%0A"), " ", "%20"))
	return []byte(`{"ignition":{"version":"3.2.0"},"storage":{"files":[
		{"path":"/etc/motd","append":[{"source":"data:,bootstrap"}]},
		{"path":"/etc/NetworkManager/system-connections/nic.nmconnection","contents":{"source":"data:,x"}},
		{"path":"/opt/openshift/openshift/99_openshift-cluster-api_hosts-0.yaml","mode":420,"contents":{"source":` + string(source) + `}},
		{"path":"/opt/openshift/openshift/99_openshift-cluster-api_hosts-1.yaml","contents":{"source":"data:,spec%3A%20%7BbootMACAddress%3A%20unknown%7D"}}` +
		big.String() + `]},"systemd":{"units":[{"name":"bootkube.service","contents":"[Unit]\n"}]}}`)
}

func TestBootstrapConfig(t *testing.T) {
	t.Parallel()
	config, err := ignition.Bootstrap(ignition.BootstrapInput{Config: bootstrapConfig(), Hosts: []*model.Host{host()}})
	require.NoError(t, err)
	require.Greater(t, len(config), 3_000_000)
	require.NoError(t, document.Check(config))
	require.Equal(t, "bootstrap", fileContent(t, config, "/etc/motd"))
	require.NotContains(t, string(config), ".nmconnection")
	require.NotContains(t, string(config), `"append"`)
	require.NotEmpty(t, fileContent(t, config, "/opt/openshift/assisted-install-bootstrap"))
	require.Contains(t, fileContent(t, config, "/etc/NetworkManager/conf.d/99-kni.conf"), "rc-manager=unmanaged")
	require.Contains(t, string(config), "bootkube.service")
	require.Equal(
		t,
		"spec: {bootMACAddress: unknown}",
		fileContent(t, config, "/opt/openshift/openshift/99_openshift-cluster-api_hosts-1.yaml"),
	)

	var object struct {
		Metadata struct{ Annotations map[string]string }
		Spec     struct{ ExternallyProvisioned bool }
	}
	require.NoError(
		t,
		yaml.Unmarshal([]byte(fileContent(t, config, "/opt/openshift/openshift/99_openshift-cluster-api_hosts-0.yaml")), &object),
	)
	require.True(t, object.Spec.ExternallyProvisioned)
	var status struct {
		Hardware struct {
			Hostname     string
			RAMMebibytes int
			NICs         []struct{ IP, MAC string }
			Storage      []struct{ Rotational bool }
		}
		PoweredOn bool
	}
	require.NoError(t, json.Unmarshal([]byte(object.Metadata.Annotations["baremetalhost.metal3.io/status"]), &status))
	require.True(t, status.PoweredOn)
	require.Equal(t, "worker-0", status.Hardware.Hostname)
	require.Equal(t, 16384, status.Hardware.RAMMebibytes)
	require.Len(t, status.Hardware.NICs, 2)
	require.True(t, status.Hardware.Storage[0].Rotational)
}

func TestBootstrapConfigOfASingleNodeHasNoPivot(t *testing.T) {
	t.Parallel()
	config, err := ignition.Bootstrap(ignition.BootstrapInput{Config: bootstrapConfig(), SingleNode: true})
	require.NoError(t, err)
	require.NotContains(t, string(config), "assisted-install-bootstrap")
	require.Equal(t, "bootstrap", fileContent(t, config, "/etc/motd"))
}

func TestBootstrapConfigThatIsBroken(t *testing.T) {
	t.Parallel()
	_, err := ignition.Bootstrap(ignition.BootstrapInput{Config: []byte("data")})
	require.ErrorContains(t, err, "read bootstrap config: invalid Ignition config")
}
