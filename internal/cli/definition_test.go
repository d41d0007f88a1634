package cli_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cli"
	"slipway/internal/wire"
)

func TestFlagsReachTheDefinition(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for n, c := range []struct {
		name  string
		flags []string
		check func(*testing.T, *wire.Cluster)
	}{
		{"nothing but what is required", nil, func(t *testing.T, c *wire.Cluster) {
			require.Equal(t, "4.20.5", c.OpenshiftVersion, "the default version")
			require.Equal(t, 3, c.ControlPlaneCount)
			require.Equal(t, wire.PlatformTypeBaremetal, c.Platform.Type)
		}},
		{"two hosts with an arbiter", []string{
			"--control-plane", "2", "--operator", "lso", "--bundle", "virtualization",
		}, func(t *testing.T, c *wire.Cluster) {
			require.Equal(t, 2, c.ControlPlaneCount)
		}},
		{"a single node that encrypts its disk", []string{
			"--control-plane", "1", "--disk-encryption", "all", "--disk-encryption-mode", "tang",
			"--tang", "http://tang.example.com=PLjNyRdGw03zlRoGjQYMahSZGu9vXKAa7nLtvwsYIaM",
		}, func(t *testing.T, c *wire.Cluster) {
			require.Equal(t, wire.PlatformTypeNone, c.Platform.Type)
			require.Equal(t, wire.DiskEncryptionEnableOnAll, c.DiskEncryption.EnableOn)
			require.JSONEq(
				t, `[{"url":"http://tang.example.com","thumbprint":"PLjNyRdGw03zlRoGjQYMahSZGu9vXKAa7nLtvwsYIaM"}]`,
				c.DiskEncryption.TangServers,
			)
		}},
		{"an external platform by its name alone", []string{"--external-platform", "oci"}, func(t *testing.T, c *wire.Cluster) {
			require.Equal(t, wire.PlatformTypeExternal, c.Platform.Type)
			require.Equal(t, "oci", c.Platform.External.PlatformName)
			require.Equal(t, wire.ImageTypeMinimalIso, s.infraEnv(t, c.Name+"_infra-env").Type, "Oracle's cloud boots no full image")
		}},
		{"a network of the user's", []string{"--user-managed-networking"}, func(t *testing.T, c *wire.Cluster) {
			require.Equal(t, wire.PlatformTypeNone, c.Platform.Type)
			require.True(t, c.UserManagedNetworking)
		}},
		{"two families", []string{
			"--machine-network", "192.0.2.0/24", "--machine-network", "2001:db8::/64", "--cluster-network", "10.128.0.0/14=24,fd01::/48=64",
			"--service-network", "172.30.0.0/16", "--service-network", "fd02::/112", "--api-vip", "192.0.2.5,2001:db8::5", "--ingress-vip",
			"192.0.2.6,2001:db8::6",
			"--network-type", "OVNKubernetes",
		}, func(t *testing.T, c *wire.Cluster) {
			require.Equal(t, "2001:db8::/64", c.MachineNetworks[1].Cidr)
			require.Equal(t, 24, c.ClusterNetworks[0].HostPrefix)
			require.Equal(t, "fd02::/112", c.ServiceNetworks[1].Cidr)
			require.Equal(t, "2001:db8::6", c.IngressVips[1].IP)
		}},
		{"a load balancer of the user's", []string{"--load-balancer", "user-managed"}, func(t *testing.T, c *wire.Cluster) {
			require.Equal(t, wire.UserManaged, c.LoadBalancer.Type)
		}},
		{"hosts of another architecture", []string{"--arch", "arm64"}, func(t *testing.T, c *wire.Cluster) {
			require.Equal(t, wire.ClusterCPUArchitectureArm64, c.CPUArchitecture)
			require.Equal(t, wire.InfraEnvCPUArchitectureArm64, s.infraEnv(t, c.Name+"_infra-env").CPUArchitecture)
		}},
		{"a bundle, and an operator with properties", []string{
			"--bundle", "virtualization", "--operator", `openshift-ai={}`,
		}, func(t *testing.T, c *wire.Cluster) {
			require.Contains(t, names(c), "cnv")
			require.Contains(t, names(c), "openshift-ai")
		}},
		{"what hosts run", []string{
			"--hyperthreading", "masters", "--schedulable-masters", "--tag", "lab", "--tag", "first", "--ntp", "ntp.example.com",
			"--operator", "lso", "--operator", `lvm`, "--http-proxy", "http://proxy.example.com:3128", "--no-proxy", "example.com",
		}, func(t *testing.T, c *wire.Cluster) {
			require.Equal(t, wire.ClusterHyperthreadingMasters, c.Hyperthreading)
			require.True(t, c.SchedulableMasters)
			require.Equal(t, "lab,first", c.Tags)
			require.Equal(t, "http://proxy.example.com:3128", c.HTTPProxy)
			require.Subset(t, names(c), []string{"lso", "lvm"})
			e := s.infraEnv(t, c.Name+"_infra-env")
			require.Equal(t, "example.com", e.Proxy.NoProxy, "what boots goes the same way")
			require.Equal(t, "ntp.example.com", e.AdditionalNtpSources)
		}},
		{"a file below the flags", []string{
			"--from", file(t, "cluster.yaml", "control_plane_count: 1\ntags: file\nhyperthreading: none\nplatform: {type: none}\n"),
			"--tag", "flag",
		}, func(t *testing.T, c *wire.Cluster) {
			require.Equal(t, 1, c.ControlPlaneCount)
			require.Equal(t, "flag", c.Tags)
			require.Equal(t, wire.ClusterHyperthreadingNone, c.Hyperthreading)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, s.create(t, "lab-"+strconv.Itoa(n), c.flags...))
		})
	}
}

func TestAnExportedClusterIsCreatedAgain(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for name, flags := range map[string][]string{
		"plain": nil,
		"networks": {
			"--api-vip", "192.0.2.5", "--ingress-vip", "192.0.2.6", "--machine-network", "192.0.2.0/24", "--cluster-network", "10.64.0.0/14=24",
			"--service-network", "172.20.0.0/16", "--http-proxy", "http://proxy.example.com:3128", "--no-proxy", "example.com",
			"--load-balancer", "user-managed",
		},
		"nodes": {
			"--hyperthreading", "masters", "--schedulable-masters", "--tag", "lab", "--ntp", "ntp.example.com", "--operator", "lso",
			"--bundle", "virtualization", "--disk-encryption", "all", "--control-plane", "4",
		},
		"single": {"--control-plane", "1"},
		"oci":    {"--external-platform", "oci", "--user-managed-networking"},
		"tang": {
			"--disk-encryption", "masters", "--disk-encryption-mode", "tang", "--tang", "http://tang.example.com=abcdefghijklmnopqrstuvwxyzA",
		},
		"platform": {"--platform", "none", "--arch", "arm64"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.create(t, name, flags...)
			exported := s.run(t, "cluster", "export", name)
			require.NotContains(t, exported, "pull_secret:")
			require.NotContains(t, exported, "cluster_id")
			path := file(t, "cluster.yaml", exported)
			s.run(t, "cluster", "create", "again-"+name, "--from", path, "--pull-secret", s.secret)
			again := strings.Replace(s.run(t, "cluster", "export", "again-"+name), "name: again-"+name, "name: "+name, 1)
			require.Equal(t, exported, again)
			for _, flag := range flags {
				if value, _, _ := strings.Cut(flag, "="); !strings.HasPrefix(value, "--") && value != "4" && value != "1" {
					require.Contains(t, exported, value)
				}
			}
		})
	}
}

func names(c *wire.Cluster) []string {
	list := make([]string, len(c.MonitoredOperators))
	for n, o := range c.MonitoredOperators {
		list[n] = o.Name
	}
	return list
}

func TestAFileAloneDefinesACluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.run(t, "cluster", "create", "--no-infra-env", "--from", file(
		t,
		"cluster.json",
		`{"name":"whole","openshift_version":"4.20","base_dns_domain":"example.com","pull_secret":"{\"auths\":{\"cloud.openshift.com\":{\"auth\":\"dXNlcjpwYXNz\"}}}"}`,
	))
	require.Equal(t, "example.com", s.cluster(t, "whole").BaseDNSDomain)
}

func TestSetChangesADefinition(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.create(t, "lab", "--machine-network", "192.0.2.0/24", "--tag", "old", "--operator", "lso")
	require.Equal(t, "cluster lab changed\n", s.run(t, "cluster", "set", "lab", "--api-vip", "192.0.2.5", "--ingress-vip", "192.0.2.6",
		"--no-schedulable-masters", "--tag", "", "--operator", "", "--disk-encryption", "masters"))
	c := s.cluster(t, "lab")
	require.Equal(t, "192.0.2.5", c.APIVips[0].IP)
	require.Empty(t, c.Tags, "an empty value takes a setting back")
	require.Len(t, c.MonitoredOperators, 1, "the console")
	require.Equal(t, wire.DiskEncryptionEnableOnMasters, c.DiskEncryption.EnableOn)
	require.Equal(t, "192.0.2.0/24", c.MachineNetworks[0].Cidr, "what no flag names stays")

	s.run(t, "cluster", "set", "lab", "--name", "lab2", "--from", file(t, "change.yaml", "name: other\nhyperthreading: workers\n"))
	require.Equal(t, wire.ClusterHyperthreadingWorkers, s.cluster(t, "lab2").Hyperthreading)
}

func TestDefinitionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.create(t, "lab")
	for _, c := range []struct {
		name, want string
		code       int
		args       []string
	}{
		{"a new cluster without a secret", "require a name, --base-domain and --pull-secret", 2, []string{"cluster", "create", "x"}},
		{"an unknown platform", "must be one of", 2, []string{"cluster", "set", "lab", "--platform", "moon"}},
		{"a change without one", "require a flag", 2, []string{"cluster", "set", "lab"}},
		{"an invalid host prefix", "require CIDR=PREFIX", 2, []string{"cluster", "set", "lab", "--cluster-network", "10.0.0.0/14=x"}},
		{"a tang server without its key", "require URL=THUMBPRINT", 2, []string{"cluster", "set", "lab", "--tang", "http://tang"}},
		{
			"a field the API does not have", `unknown field "colour"`, 2,
			[]string{"cluster", "set", "lab", "--from", file(t, "f", "colour: red")},
		},
		{"an invalid file", "require fields as JSON or YAML", 2, []string{"cluster", "set", "lab", "--from", file(t, "f", "- a")}},
		{"an unknown operator", "moon", 1, []string{"cluster", "set", "lab", "--operator", "moon"}},
		{"a network the service refuses", "machine_networks", 1, []string{"cluster", "set", "lab", "--machine-network", "192.0.2.0"}},
		{"no validations to ignore", "require validations, --show or --none", 2, []string{"cluster", "ignore", "lab"}},
		{"an unknown validation", "there is no validation moon", 3, []string{"cluster", "ignore", "lab", "moon"}},
		{"an InfraEnv without a secret", "require --pull-secret", 2, []string{"infra-env", "create", "pool"}},
		{
			"invalid addresses", "require a list of network_yaml", 2,
			[]string{"infra-env", "set", "lab_infra-env", "--static-network", file(t, "f", "a: b")},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := run(t, s.url, c.args...)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, c.code, cli.ExitCode(err))
		})
	}
}
