package installconfig_test

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

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/model"
	"slipway/internal/testing/recorded"
	"slipway/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files")

func prefixes(cidrs ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, c := range cidrs {
		all = append(all, netip.MustParsePrefix(c))
	}
	return all
}

func vips(ips ...string) []model.VIP {
	var all []model.VIP
	for _, ip := range ips {
		all = append(all, model.VIP{IP: netip.MustParseAddr(ip)})
	}
	return all
}

// hosts makes machines of a role: the first address of theirs is 192.168.10.<from>.
func hosts(role model.Role, n, from int) []*model.Host {
	var all []*model.Host
	for i := range n {
		last := from + i
		all = append(all, &model.Host{
			ID: uuid.NewSHA1(uuid.Nil, fmt.Append(nil, last)), Role: model.RoleAutoAssign, SuggestedRole: role,
			RequestedHostname: fmt.Sprintf(
				"%s-%d",
				role,
				i,
			), InstallationDiskID: "/dev/disk/by-id/wwn-0x1", InstallationDiskPath: "/dev/sda", Bootstrap: role == model.RoleMaster && i == 0,
			Inventory: &wire.Inventory{
				Boot: wire.Boot{CurrentBootMode: "uefi"},
				Interfaces: []wire.Interface{
					{
						Name:          "eth1",
						MacAddress:    fmt.Sprintf("52:54:00:00:01:%02x", last),
						Ipv4Addresses: []string{fmt.Sprintf("172.16.0.%d/24", last)},
					},
					{
						Name: "eth0", MacAddress: fmt.Sprintf("52:54:00:00:00:%02x", last),
						Ipv4Addresses: []string{
							fmt.Sprintf("192.168.10.%d/24", last),
						}, Ipv6Addresses: []string{fmt.Sprintf("fd00:10::%d/64", last)},
					},
				},
				Routes: []wire.Route{
					{Destination: "0.0.0.0", Family: 2, Interface: "eth1", Metric: 200, Gateway: "172.16.0.1"},
					{Destination: "0.0.0.0", Family: 2, Interface: "eth0", Metric: 100, Gateway: "192.168.10.1"},
				},
			},
		})
	}
	return all
}

func cluster(change func(*model.Cluster)) *model.Cluster {
	c := &model.Cluster{
		Name: "one", BaseDNSDomain: "example.com", OpenShiftVersion: "4.20.33", ControlPlaneCount: 3,
		PullSecret: `{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}`, SSHPublicKey: "ssh-ed25519 AAAA",
		Platform: model.Platform{Type: "baremetal"}, NetworkType: "OVNKubernetes",
		APIVIPs: vips("192.168.10.5"), IngressVIPs: vips("192.168.10.6"), MachineNetworks: prefixes("192.168.10.0/24"),
		ClusterNetworks: []model.ClusterNetwork{{CIDR: netip.MustParsePrefix("10.128.0.0/14"), HostPrefix: 23}},
		ServiceNetworks: prefixes("172.30.0.0/16"),
	}
	change(c)
	return c
}

func singleNode(c *model.Cluster) {
	c.ControlPlaneCount = 1
	c.Platform.Type = "none"
	c.APIVIPs, c.IngressVIPs = nil, nil
}

func TestShapes(t *testing.T) {
	t.Parallel()
	ha := append(hosts(model.RoleWorker, 2, 20), hosts(model.RoleMaster, 3, 10)...)
	for name, c := range map[string]struct {
		change func(*model.Cluster)
		hosts  []*model.Host
		opts   installconfig.Options
	}{
		"baremetal-ha": {func(*model.Cluster) {}, ha, installconfig.Options{}},
		"baremetal-compact": {
			func(c *model.Cluster) { c.SchedulableMasters = true }, hosts(model.RoleMaster, 3, 10), installconfig.Options{},
		},
		"single-node": {singleNode, hosts(model.RoleMaster, 1, 10), installconfig.Options{}},
		"none-user-managed-networking": {func(c *model.Cluster) {
			c.Platform.Type = "none"
			c.UserManagedNetworking = true
			c.APIVIPs, c.IngressVIPs, c.MachineNetworks = nil, nil, nil
		}, ha, installconfig.Options{}},
		"proxy": {func(c *model.Cluster) {
			c.Proxy = model.Proxy{HTTP: "http://proxy:3128", HTTPS: "http://proxy:3129", NoProxy: "intranet.example.com,192.168.10.0/24"}
		}, ha, installconfig.Options{}},
		"dual-stack": {func(c *model.Cluster) {
			c.APIVIPs, c.IngressVIPs = vips("192.168.10.5", "fd00:10::5"), vips("192.168.10.6", "fd00:10::6")
			c.MachineNetworks = prefixes("192.168.10.0/24", "fd00:10::/64")
			c.ClusterNetworks = append(c.ClusterNetworks, model.ClusterNetwork{CIDR: netip.MustParsePrefix("fd01::/48"), HostPrefix: 64})
			c.ServiceNetworks = prefixes("172.30.0.0/16", "fd02::/112")
		}, ha, installconfig.Options{}},
		"old-version": {func(c *model.Cluster) {
			c.OpenShiftVersion = "4.11.59"
			c.NTPSources = []string{"ntp.example.com"}
		}, ha, installconfig.Options{
			Mirrors: []installconfig.ImageSource{{Source: "quay.io/openshift-release-dev", Mirrors: []string{"mirror.example.com/ocp"}}},
		}},
		"everything": {func(c *model.Cluster) {
			c.NTPSources = []string{"ntp.example.com"}
			c.LoadBalancer = "user-managed"
			c.Hyperthreading = "masters"
			c.SSHPublicKey = "ssh-rsa AAAA"
			c.InstallConfigOverride = `{"fips":true,"networking":{"ovnKubernetesConfig":{"ipv4":{"internalJoinSubnet":"100.99.0.0/16"}}},"compute":[{"replicas":7}],"capabilities":{"baselineCapabilitySet":"None","additionalEnabledCapabilities":["baremetal","MachineAPI","Ingress"]}}`
		}, append(ha, hosts(model.RoleArbiter, 1, 30)...), installconfig.Options{
			TrustBundles: []string{pem("one") + pem("two"), pem("two") + "\n", pem("three")},
			Mirrors: []installconfig.ImageSource{
				{Source: "quay.io/openshift-release-dev", Mirrors: []string{"mirror.example.com/ocp"}},
			},
		}},
		"two-nodes-with-fencing": {
			func(c *model.Cluster) { c.ControlPlaneCount = 2 }, fenced(hosts(model.RoleMaster, 2, 10)), installconfig.Options{},
		},
		"two-nodes-with-arbiter-preview": {func(c *model.Cluster) {
			c.ControlPlaneCount = 2
			c.OpenShiftVersion = "4.19.9"
		}, append(hosts(model.RoleMaster, 2, 10), hosts(model.RoleArbiter, 1, 30)...), installconfig.Options{}},
		"vsphere": {func(c *model.Cluster) { c.Platform.Type = "vsphere" }, ha, installconfig.Options{}},
		"vsphere-own": {func(c *model.Cluster) {
			c.Platform.Type = "vsphere"
			c.InstallConfigOverride = `{"platform":{"vsphere":{"vcenters":[{"server":"vc.example.com","user":"u"}],"failureDomains":[{"server":"vc.example.com"}]}}}`
		}, ha, installconfig.Options{}},
		"vsphere-old": {func(c *model.Cluster) {
			c.Platform.Type = "vsphere"
			c.OpenShiftVersion = "4.12.1"
			c.LoadBalancer = "user-managed"
		}, ha, installconfig.Options{}},
		"nutanix": {func(c *model.Cluster) { c.Platform.Type = "nutanix" }, ha, installconfig.Options{}},
		"external": {func(c *model.Cluster) {
			c.Platform = model.Platform{Type: "external", ExternalName: "oci", CloudControllerManager: "External"}
			c.APIVIPs, c.IngressVIPs = nil, nil
			c.NetworkType = "None"
		}, ha, installconfig.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, err := installconfig.Build(cluster(c.change), c.hosts, c.opts)
			require.NoError(t, err)
			got, err := cfg.YAML()
			require.NoError(t, err)
			golden := filepath.Join("testdata", name+".yaml")
			if *update {
				require.NoError(t, os.WriteFile(golden, got, 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))

			asJSON, err := cfg.JSON()
			require.NoError(t, err)
			same, err := yaml.YAMLToJSON(got)
			require.NoError(t, err)
			require.JSONEq(t, string(same), string(asJSON))
		})
	}
}

// fenced gives hosts a management controller each.
func fenced(all []*model.Host) []*model.Host {
	for i, h := range all {
		h.Fencing = &model.FencingCredentials{
			Address: fmt.Sprintf(
				"https://bmc-%d.example.com/redfish/v1/Systems/1",
				i,
			), Username: "admin", Password: "secret", CertificateVerification: "Disabled",
		}
	}
	return all
}

func TestOverridesThatDoNotFitTheCluster(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ override, want string }{
		"another name":           {`{"metadata":{"name":"two"}}`, `metadata.name: require "one", found "two"`},
		"another domain":         {`{"baseDomain":"example.org"}`, `baseDomain: require "example.com"`},
		"another version":        {`{"apiVersion":"v2"}`, `apiVersion: require "v1"`},
		"two platforms":          {`{"platform":{"none":{}}}`, "platform: require one platform, found 2"},
		"no platform":            {`{"platform":{"baremetal":null}}`, "platform: require one platform, found 0"},
		"no control plane":       {`{"controlPlane":null}`, "controlPlane: the pool of the control plane is required"},
		"a larger control plane": {`{"controlPlane":{"replicas":5}}`, "controlPlane.replicas: require at most the 3"},
		"fewer than no workers":  {`{"compute":[{"replicas":-1}]}`, "compute.replicas: require 0 or more"},
		"no pool of workers":     {`{"compute":[]}`, "compute: the pool of the workers is required"},
		"an invalid network": {
			`{"networking":{"serviceNetwork":["x"]}}`, `networking.serviceNetwork: require a network such as 10.128.0.0/14, found "x"`,
		},
		"a network with a host": {`{"networking":{"machineNetwork":[{"cidr":"10.0.0.1/8"}]}}`, "networking.machineNetwork"},
		"a part larger than all": {
			`{"networking":{"clusterNetwork":[{"hostPrefix":8}]}}`,
			"networking.clusterNetwork: require a hostPrefix between 14 and 32, found 8",
		},
		"a choice there is not":    {`{"cpuPartitioningMode":"Some"}`, "cpuPartitioningMode: require one of None, AllNodes"},
		"a set there is not":       {`{"featureSet":"Everything"}`, "featureSet"},
		"an invalid bundle":        {`{"additionalTrustBundle":"x"}`, "additionalTrustBundle: must be certificates in PEM"},
		"a pull secret of nothing": {`{"pullSecret":"{}"}`, "pullSecret: auths must have at least one registry"},
		"a pull secret of no JSON": {`{"pullSecret":"x"}`, "pullSecret: must be a JSON object with auths"},
		"an entry that the installer refuses": {
			`{"pullSecret":"{\"auths\":{\"quay.io\":{}}}"}`, `pullSecret: the entry of "quay.io" must have auth or credsStore`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := installconfig.CheckOverrideOf(cluster(func(*model.Cluster) {}), nil, c.override, installconfig.Options{})
			require.ErrorIs(t, err, model.ErrInvalid)
			require.ErrorContains(t, err, "install_config_overrides: "+c.want)
		})
	}
	unfinished := cluster(func(c *model.Cluster) { c.OpenShiftVersion = "" })
	require.NoError(
		t,
		installconfig.CheckOverrideOf(unfinished, nil, `{"fips":true}`, installconfig.Options{}),
		"what the cluster lacks is no fault of the override",
	)
	require.Error(t, installconfig.CheckOverrideOf(unfinished, nil, `{"flips":true}`, installconfig.Options{}))
	finished := cluster(func(*model.Cluster) {})
	require.NoError(t, installconfig.CheckOverrideOf(finished, nil, `{"controlPlane":{"replicas":3}}`, installconfig.Options{}))
}

func pem(text string) string {
	return "-----BEGIN CERTIFICATE-----\n" + text + "\n-----END CERTIFICATE-----\n"
}

func TestOverridesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ override, want string }{
		"an unknown field":        {`{"flips":true}`, `install_config_overrides: unknown field "flips"`},
		"an unknown nested field": {`{"networking":{"networkTyp":"x"}}`, `unknown field "networkTyp"`},
		"a value of another type": {`{"fips":"yes"}`, "require fips to be of type bool, found string"},
		"no object":               {`[]`, "require a JSON object"},
		"no JSON":                 {`fips: true`, "require a JSON object"},
		"broken JSON":             {`{"fips":tru}`, "not valid JSON: "},
		"two objects":             {`{} {}`, "must be one JSON object, more text follows after byte 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := installconfig.CheckOverride(c.override)
			require.ErrorIs(t, err, model.ErrInvalid)
			require.ErrorContains(t, err, c.want)
			_, err = installconfig.Build(
				cluster(func(m *model.Cluster) { m.InstallConfigOverride = c.override }),
				nil,
				installconfig.Options{},
			)
			require.ErrorIs(t, err, model.ErrInvalid)
		})
	}
	require.Error(t, installconfig.CheckOverride("{}}"))
	require.NoError(t, installconfig.CheckOverride(""))
	require.NoError(t, installconfig.CheckOverride(`{"controlPlane":{"hyperthreading":"Disabled"}}`))
}

func TestClustersThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	_, err := installconfig.Build(cluster(func(c *model.Cluster) { c.Platform.Type = "openstack" }), nil, installconfig.Options{})
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, `found "openstack"`)
	_, err = installconfig.Build(cluster(func(c *model.Cluster) { c.OpenShiftVersion = "" }), nil, installconfig.Options{})
	require.ErrorIs(t, err, model.ErrUnprocessable)
	arbiter := cluster(func(c *model.Cluster) { c.ControlPlaneCount, c.Platform.Type = 2, "none" })
	_, err = installconfig.Build(arbiter, append(hosts(model.RoleMaster, 2, 10), hosts(model.RoleArbiter, 1, 12)...), installconfig.Options{})
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "Two nodes with an arbiter (TNA) and Platform none (NONE_PLATFORM) exclude each other")
}

func TestHostsWithoutAnInventoryAreListed(t *testing.T) {
	t.Parallel()
	cfg, err := installconfig.Build(cluster(func(*model.Cluster) {}), []*model.Host{{Role: model.RoleMaster}}, installconfig.Options{})
	require.NoError(t, err)
	require.Equal(t, []installconfig.BareMetalHost{{Role: "master", BootMode: "legacy"}}, cfg.Platform.BareMetal.Hosts)
}

func TestSecretsStayOutOfTexts(t *testing.T) {
	t.Parallel()
	cfg, err := installconfig.Build(cluster(func(*model.Cluster) {}), nil, installconfig.Options{})
	require.NoError(t, err)
	for _, text := range []string{fmt.Sprint(cfg), fmt.Sprintf("%v %+v %s", cfg, cfg, cfg), cfg.LogValue().String()} {
		require.NotContains(t, text, "dXNlcjpwYXNz")
	}
}

// TestReplyHasTheFieldsOfTheContract compares with the recorded reply of a running service.
func TestReplyHasTheFieldsOfTheContract(t *testing.T) {
	t.Parallel()
	var exchanges []struct {
		Request string
		Reply   json.RawMessage
	}
	require.NoError(t, json.Unmarshal(recorded.Session(), &exchanges))
	compared := 0
	for _, e := range exchanges {
		if !strings.HasSuffix(e.Request, "/install-config") {
			continue
		}
		compared++
		var strict installconfig.InstallConfig
		d := json.NewDecoder(bytes.NewReader(e.Reply))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(&strict))
		again, err := strict.JSON()
		require.NoError(t, err)
		require.JSONEq(t, string(e.Reply), string(again))
	}
	require.Equal(t, 1, compared)
}

func TestMirrorsAreReadFromTheConfigurationOfContainers(t *testing.T) {
	t.Parallel()
	mirrors, err := installconfig.ParseMirrors(`
unqualified-search-registries = ["registry.access.redhat.com"]

[[registry]]
location = "quay.io/openshift-release-dev/ocp-release"
mirror-by-digest-only = true
  [[registry.mirror]]
  location = "mirror.example.com/release"
  [[registry.mirror]]
  location = "mirror2.example.com/release"

[[registry]]
prefix = "quay.io/other"
  [[registry.mirror]]
  location = "mirror.example.com/other"

[[registry]]
location = "blocked.example.com"
blocked = true
`)
	require.NoError(t, err)
	require.Equal(t, []installconfig.ImageSource{
		{
			Source:  "quay.io/openshift-release-dev/ocp-release",
			Mirrors: []string{"mirror.example.com/release", "mirror2.example.com/release"},
		},
		{Source: "quay.io/other", Mirrors: []string{"mirror.example.com/other"}},
	}, mirrors)
	for _, bad := range []string{
		"[[registry", "[[registry]]\n[[registry.mirror]]\nlocation = \"a\"", "[[registry]]\nlocation = \"a\"\n[[registry.mirror]]\n",
	} {
		_, err := installconfig.ParseMirrors(bad)
		require.ErrorIs(t, err, model.ErrInvalid, bad)
	}
}

func TestEnvironmentsAddTrustAndTimeSources(t *testing.T) {
	t.Parallel()
	service := installconfig.Options{TrustBundles: []string{pem("one")}}
	all := service.With([]*model.InfraEnv{
		{AdditionalTrustBundle: pem("two"), NTPSources: []string{"a.example.com", "b.example.com"}}, {NTPSources: []string{"b.example.com"}}, {},
	})
	require.Equal(t, []string{pem("one"), pem("two")}, all.TrustBundles)
	require.Len(t, service.TrustBundles, 1)
	for name, c := range map[string]struct {
		change func(*model.Cluster)
		want   []string
	}{
		"a cluster without time sources takes its environments'": {func(*model.Cluster) {}, []string{"a.example.com", "b.example.com"}},
		"the cluster's own sources win": {
			func(c *model.Cluster) { c.NTPSources = []string{"c.example.com"} }, []string{"c.example.com"},
		},
		"before 4.18 there is no such field": {func(c *model.Cluster) { c.OpenShiftVersion = "4.17.9" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, err := installconfig.Build(cluster(c.change), nil, all)
			require.NoError(t, err)
			require.Equal(t, c.want, cfg.Platform.BareMetal.AdditionalNTPServers)
		})
	}
}

func TestProxyOfAnOverrideIsWrittenAsItsUserWroteIt(t *testing.T) {
	t.Parallel()
	const networks = ".one.example.com,10.128.0.0/14,172.30.0.0/16,192.168.10.0/24"
	for override, want := range map[string]installconfig.Proxy{
		`{"proxy":{"httpProxy":"http://o.example.com:1"}}`: {HTTPProxy: "http://o.example.com:1"},
		`{"proxy":{"httpsProxy":"http://o.example.com:1","noProxy":"a.example.com"}}`: {
			HTTPSProxy: "http://o.example.com:1", NoProxy: "a.example.com",
		},
	} {
		cfg, err := installconfig.Build(cluster(func(c *model.Cluster) { c.InstallConfigOverride = override }), nil, installconfig.Options{})
		require.NoError(t, err)
		require.Equal(t, &want, cfg.Proxy, override)
	}
	cfg, err := installconfig.Build(cluster(func(c *model.Cluster) {
		c.Proxy.HTTP, c.InstallConfigOverride = "http://proxy:3128", `{"proxy":{"httpsProxy":"http://o.example.com:1"}}`
	}), nil, installconfig.Options{})
	require.NoError(t, err)
	require.Equal(t, &installconfig.Proxy{HTTPProxy: "http://proxy:3128", HTTPSProxy: "http://o.example.com:1", NoProxy: networks}, cfg.Proxy)
}

// The installer takes names in lower case only (openshift/installer, pkg/validate, NoProxyDomainName).
func TestExceptionsThatOlderVersionsStoredInCapitals(t *testing.T) {
	t.Parallel()
	c := cluster(func(c *model.Cluster) {
		c.Proxy = model.Proxy{HTTP: "http://proxy:3128", NoProxy: "LOCALHOST,.Corp.Example.com,\nFD00::/48"}
	})
	cfg, err := installconfig.Build(c, nil, installconfig.Options{})
	require.NoError(t, err)
	require.Equal(t, "localhost,.corp.example.com,fd00::/48,.one.example.com,10.128.0.0/14,172.30.0.0/16,192.168.10.0/24", cfg.Proxy.NoProxy)
}

func TestCertificatesOfAnOverrideDoNotDisplaceThoseOfTheService(t *testing.T) {
	t.Parallel()
	two, one := certificate(t, "two"), certificate(t, "one")
	override, err := json.Marshal(map[string]string{"additionalTrustBundle": two + one})
	require.NoError(t, err)
	c := cluster(func(c *model.Cluster) { c.InstallConfigOverride = string(override) })
	cfg, err := installconfig.Build(c, nil, installconfig.Options{TrustBundles: []string{one, pem("bWlycm9y")}})
	require.NoError(t, err)
	require.Equal(t, two+one+pem("bWlycm9y"), cfg.AdditionalTrustBundle)
}

func TestFIPSNeedsAnInstallerThatCan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		version, key string
		noFIPS       bool
		want         string // of the error; empty: accepted
	}{
		"a service that cannot": {
			"4.20.33", "ssh-rsa AAAA", true, "install_config_overrides: fips: a service that runs on RHEL 9 in FIPS mode is required",
		},
		"a service that can":             {"4.20.33", "ssh-rsa AAAA", false, ""},
		"an old installer does not look": {"4.15.9", "ssh-rsa AAAA", true, ""},
		"a key that FIPS does not have": {
			"4.20.33", "ssh-ed25519 AAAA", false, "fips: require an SSH key of type rsa or ecdsa, found ssh-ed25519",
		},
		"the second of two keys":                   {"4.20.33", "ssh-rsa AAAA\nssh-ed25519 AAAA", false, "found ssh-ed25519"},
		"a key of a curve that is in the standard": {"4.20.33", "ecdsa-sha2-nistp256 AAAA", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := cluster(func(m *model.Cluster) { m.OpenShiftVersion, m.SSHPublicKey = c.version, c.key })
			err := installconfig.CheckOverrideOf(m, nil, `{"fips":true}`, installconfig.Options{NoFIPS: c.noFIPS})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, model.ErrInvalid)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestExceptionsOfTheProxyHaveTheNetworksOfTheOverride(t *testing.T) {
	t.Parallel()
	c := cluster(func(c *model.Cluster) {
		c.Proxy = model.Proxy{HTTP: "http://proxy:3128", NoProxy: "intranet.example.com,FD02::/112"}
		c.InstallConfigOverride = `{"networking":{"networkType":"Calico","clusterNetwork":[{"cidr":"10.200.0.0/16"}],` +
			`"serviceNetwork":["172.31.0.0/16","fd02::/112"],"machineNetwork":[{"cidr":"192.168.8.0/21"}]}}`
	})
	config, err := installconfig.Build(c, hosts(model.RoleMaster, 3, 10), installconfig.Options{})
	require.NoError(t, err)
	require.Equal(t, "intranet.example.com,fd02::/112,.one.example.com,10.200.0.0/16,172.31.0.0/16,192.168.8.0/21", config.Proxy.NoProxy)
	require.Equal(t, installconfig.Networking{
		NetworkType: "Calico", ServiceNetwork: []string{"172.31.0.0/16", "fd02::/112"},
		ClusterNetwork: []installconfig.ClusterNetwork{{CIDR: "10.200.0.0/16", HostPrefix: 23}},
		MachineNetwork: []installconfig.MachineNetwork{{CIDR: "192.168.8.0/21"}},
	}, config.Networking)
}

func TestOverridesOfNewFieldsAreWritten(t *testing.T) {
	t.Parallel()
	c := cluster(func(c *model.Cluster) { c.InstallConfigOverride = `{"osImageStream":"rhel-10"}` })
	cfg, err := installconfig.Build(c, nil, installconfig.Options{})
	require.NoError(t, err)
	data, err := cfg.YAML()
	require.NoError(t, err)
	require.Contains(t, string(data), "osImageStream: rhel-10\n")
}
