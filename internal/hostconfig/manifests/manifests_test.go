package manifests_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/stretchr/testify/require"
	"github.com/vincent-petithory/dataurl"
	"sigs.k8s.io/yaml"

	"slipway/internal/hostconfig/manifests"
	"slipway/internal/model"
	"slipway/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files")

func hosts(role model.Role, n int) []*model.Host {
	var all []*model.Host
	for i := range n {
		all = append(all, &model.Host{
			Role: role, RequestedHostname: fmt.Sprintf("%s-%d", role, i), InstallationDiskID: "/dev/disk/by-id/wwn-0x1",
			NTPSources: []wire.NtpSource{
				{SourceName: "192.0.2.123", SourceState: wire.SourceStateSynced},
				{SourceName: "192.0.2.124", SourceState: wire.SourceStateUnreachable},
			},
			Inventory: &wire.Inventory{
				Disks:      []wire.Disk{{ID: "/dev/disk/by-id/wwn-0x1", Path: "/dev/sda", DriveType: wire.DriveTypeSSD}},
				Interfaces: []wire.Interface{{Name: "eth0", Ipv4Addresses: []string{fmt.Sprintf("192.168.10.%d/24", 10+i)}}},
			},
		})
	}
	return all
}

func input(change func(*manifests.Input)) manifests.Input {
	in := manifests.Input{
		Cluster: &model.Cluster{
			Name: "one", BaseDNSDomain: "example.com", OpenShiftVersion: "4.20.33", ControlPlaneCount: 3,
			MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24")},
		},
		Hosts: append(hosts(model.RoleMaster, 3), hosts(model.RoleWorker, 2)...),
	}
	for _, h := range in.Hosts {
		h.NTPSources = nil
	}
	change(&in)
	return in
}

const tang = `[{"url":"http://tang.example.com:7500","thumbprint":"PLjNyRdGw03zlRoGjQYMahSZGu9"},{"url":"http://tang2.example.com","thumbprint":"x"}]`

// cases are clusters, each with one thing that the service makes manifests for.
var cases = map[string]func(*manifests.Input){
	"nothing to add": func(*manifests.Input) {},
	"time sources of cluster and environments": func(in *manifests.Input) { ntp(in) },
	"time sources that hosts found": func(in *manifests.Input) {
		in.Hosts = append(hosts(model.RoleMaster, 2), append(hosts(model.RoleArbiter, 1), hosts(model.RoleWorker, 2)...)...)
	},
	"encryption with a TPM": func(in *manifests.Input) {
		in.Cluster.DiskEncryption = model.DiskEncryption{EnableOn: "masters,workers", Mode: "tpmv2"}
	},
	"encryption with Tang of arbiters": func(in *manifests.Input) {
		in.Hosts = append(in.Hosts, input(func(other *manifests.Input) { other.Hosts = hosts(model.RoleArbiter, 1) }).Hosts...)
		in.Hosts[5].NTPSources = nil
		in.Cluster.DiskEncryption = model.DiskEncryption{EnableOn: "arbiters", Mode: "tang", TangServers: tang}
		in.Cluster.InstallConfigOverride = `{"fips":true}`
	},
	"masters that take work":     func(in *manifests.Input) { in.Cluster.SchedulableMasters = true },
	"masters with a worker only": func(in *manifests.Input) { in.Hosts = in.Hosts[:4] },
	"a single node with names": func(in *manifests.Input) {
		in.Cluster.ControlPlaneCount, in.Hosts, in.Options.SingleNodeDNS = 1, in.Hosts[:1], true
	},
	"telemetry elsewhere": func(in *manifests.Input) { in.Options.TelemeterURL = "https://telemeter.example.com" },
}

func ntp(in *manifests.Input) {
	in.Cluster.NTPSources = []string{"ntp.example.com", "bad one"}
	in.InfraEnvs = []*model.InfraEnv{{NTPSources: []string{"ntp.example.com", "2001:db8::123"}}}
}

func TestGeneratedManifests(t *testing.T) {
	t.Parallel()
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := manifests.Generate(input(change))
			require.NoError(t, err)
			var text bytes.Buffer
			for _, f := range files {
				require.NoError(t, manifests.CheckName(f.Name))
				require.NoError(t, manifests.CheckContent(f.Name, f.Content))
				if strings.Contains(f.Name, "iscsi") && name != "nothing to add" {
					continue // every cluster has it
				}
				fmt.Fprintf(&text, "# %s/%s\n%s", f.Folder, f.Name, readable(t, f))
			}
			golden := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".yaml")
			if *update {
				require.NoError(t, os.WriteFile(golden, text.Bytes(), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), text.String())
		})
	}
}

// TestDisksInTheNetworkOfLaterHosts: which disks later hosts and multipath devices have is not known when the
// manifests are made. openshift/assisted-service adds the same to every cluster (internal/network/manifests_generator.go).
func TestDisksInTheNetworkOfLaterHosts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*manifests.Input)
		want   []string
	}{
		"local disks": {func(*manifests.Input) {}, []string{"50-masters-iscsi-nic-reapply.yaml", "50-workers-iscsi-nic-reapply.yaml"}},
		"a single node": {
			func(in *manifests.Input) { in.Cluster.ControlPlaneCount, in.Hosts = 1, in.Hosts[:1] },
			[]string{"50-masters-iscsi-nic-reapply.yaml", "50-workers-iscsi-nic-reapply.yaml"},
		},
		"an arbiter": {
			func(in *manifests.Input) {
				in.Hosts = append(hosts(model.RoleMaster, 2), hosts(model.RoleArbiter, 1)...)
			},
			[]string{"50-masters-iscsi-nic-reapply.yaml", "50-workers-iscsi-nic-reapply.yaml", "50-arbiters-iscsi-nic-reapply.yaml"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := manifests.Generate(input(c.change))
			require.NoError(t, err)
			var got []string
			for _, f := range files {
				if strings.Contains(f.Name, "iscsi") {
					got = append(got, f.Name)
					require.Contains(t, string(f.Content), "ConditionPathExists=/sys/firmware/ibft")
				}
			}
			require.ElementsMatch(t, c.want, got)
		})
	}
}

// readable returns a manifest with the files that its Ignition writes as comments, after Ignition itself has read it.
func readable(t *testing.T, f manifests.File) string {
	t.Helper()
	var object struct {
		Kind string
		Spec struct{ Config json.RawMessage }
	}
	if manifests.IsPatch(f.Name) {
		return string(f.Content)
	}
	require.NoError(t, yaml.Unmarshal(f.Content, &object))
	if object.Kind != "MachineConfig" {
		return string(f.Content)
	}
	config, report, err := v3_2.Parse(object.Spec.Config)
	require.NoError(t, err, report.String())
	text := string(f.Content)
	for _, written := range config.Storage.Files {
		u, err := dataurl.DecodeString(*written.Contents.Source)
		require.NoError(t, err)
		text = strings.Replace(text, *written.Contents.Source, "(see below)", 1)
		text += "## " + written.Path + "\n"
		for line := range strings.Lines(string(u.Data)) {
			text += "#  " + line
		}
	}
	return text
}

func TestSettingsThatCannotBecomeManifests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		encryption model.DiskEncryption
		want       string
	}{
		"servers that are no list": {model.DiskEncryption{EnableOn: "all", Mode: "tang", TangServers: "x"}, "require a JSON list"},
		"no servers":               {model.DiskEncryption{EnableOn: "all", Mode: "tang", TangServers: "[]"}, "at least one server"},
		"a server without thumbprint": {
			model.DiskEncryption{EnableOn: "all", Mode: "tang", TangServers: `[{"url":"http://t"}]`}, "the thumbprint of server 1",
		},
		"another mode": {model.DiskEncryption{EnableOn: "all", Mode: "key"}, `found "key"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifests.Generate(input(func(in *manifests.Input) { in.Cluster.DiskEncryption = c.encryption }))
			require.ErrorIs(t, err, model.ErrInvalid)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestLateManifestsAreListedForTheController(t *testing.T) {
	t.Parallel()
	asJSON, asYAML, err := manifests.LateFiles(nil)
	require.NoError(t, err)
	require.Equal(t, "[]", string(asJSON))
	require.Empty(t, asYAML)
	asJSON, asYAML, err = manifests.LateFiles(
		[]manifests.Late{{Name: "lso", Content: []byte("kind: A\n")}, {Name: "odf", Content: []byte("kind: B")}},
	)
	require.NoError(t, err)
	require.JSONEq(t, `[{"Name":"lso","Content":"a2luZDogQQo="},{"Name":"odf","Content":"a2luZDogQg=="}]`, string(asJSON))
	require.Equal(t, "---\n# lso\nkind: A\n---\n# odf\nkind: B\n", string(asYAML))
}
