package definition_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/definition"
	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

const pullSecret = `{"auths":{"cloud.openshift.com":{"auth":"dXNlcjpwYXNzd29yZAo=","email":"r@r.com"}}}`

func offer(t *testing.T) definition.Offer {
	t.Helper()
	list, err := openshift.ParseReleases([]byte(`[
		{"version":"4.22.9","cpu_architectures":["x86_64","arm64"],"support_level":"production","default":true,"url":"quay.io/ocp/release:4.22.9-x86_64"},
		{"version":"4.16.68","cpu_architectures":["x86_64"],"support_level":"maintenance","url":"quay.io/ocp/release:4.16.68-x86_64"}]`))
	require.NoError(t, err)
	return definition.Offer{Releases: openshift.NewCatalogue(list)}
}

// define makes a cluster of fields on top of the required ones.
func define(t *testing.T, o definition.Offer, fields map[string]any) (*model.Cluster, error) {
	t.Helper()
	body := map[string]any{"name": "prod", "openshift_version": "4.22", "pull_secret": pullSecret, "base_dns_domain": "example.com"}
	for key, value := range fields {
		body[key] = value
	}
	text, err := json.Marshal(body)
	require.NoError(t, err)
	var p wire.ClusterCreateParams
	require.NoError(t, json.Unmarshal(text, &p))
	return o.New(p)
}

func defined(t *testing.T, fields map[string]any) *model.Cluster {
	t.Helper()
	c, err := define(t, offer(t), fields)
	require.NoError(t, err)
	return c
}

// change applies the body of an update.
func change(t *testing.T, c *model.Cluster, body string) error {
	t.Helper()
	var p wire.V2ClusterUpdateParams
	require.NoError(t, json.Unmarshal([]byte(body), &p))
	_, err := offer(t).Change(c, p, definition.Surroundings{})
	return err
}

// refused requires an error about invalid input.
func refused(t *testing.T, err error, want, name string) {
	t.Helper()
	require.ErrorIs(t, err, model.ErrInvalid, name)
	require.ErrorContains(t, err, want, name)
}

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]struct{ body, want string }{
		"a name that is no DNS name":      {`{"name":"Prod_1"}`, "lower-case"},
		"a name with a dot on bare metal": {`{"name":"a.b"}`, "DNS name"},
		"a name that ends in a hyphen":    {`{"name":"prod-"}`, "DNS name"},
		"a domain that is invalid":        {`{"base_dns_domain":"exa mple.com"}`, "base_dns_domain"},
		"a domain of one letter":          {`{"base_dns_domain":"example.c"}`, "ends in a label of at least 2 letters"},
		"a domain in capitals":            {`{"base_dns_domain":"Example.com"}`, "base_dns_domain"},
		"a key that ends early": {
			`{"ssh_public_key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHVzZXIgb25seSBmb3IgdGVzdHMgb2YgYWljbGkh user@test"}`, "ssh_public_key: require public keys",
		},
		"a key with options": {
			`{"ssh_public_key":"no-pty ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUBFNCkJIFJy2xcBfjnFyxd0BMqmKSbt3BEW1eZYMBX"}`,
			"ssh_public_key: require public keys",
		},
		"a key that is invalid": {`{"ssh_public_key":"ssh-rsa AAAA"}`, "ssh_public_key"},
		"a key with another type in it": {
			`{"ssh_public_key":"ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIHUBFNCkJIFJy2xcBfjnFyxd0BMqmKSbt3BEW1eZYMBX"}`, "ssh_public_key",
		},
		"a network that is an address": {`{"machine_networks":[{"cidr":"192.0.2.5/24"}]}`, "192.0.2.0/24"},
		"a network that is invalid":    {`{"machine_networks":[{"cidr":"292.0.2.0/24"}]}`, "machine_networks"},
		"two networks of one family": {
			`{"service_networks":[{"cidr":"10.0.0.0/16"},{"cidr":"10.1.0.0/16"}]}`, "at most one value for IPv4",
		},
		"a host prefix wider than the network": {`{"cluster_networks":[{"cidr":"10.128.0.0/14","host_prefix":12}]}`, "from 14 to 32"},
		"one address for API and ingress": {
			`{"api_vips":[{"ip":"192.0.2.1"}],"ingress_vips":[{"ip":"192.0.2.1"}]}`, "different addresses",
		},
		"two API addresses and one ingress": {
			`{"api_vips":[{"ip":"192.0.2.1"},{"ip":"2001:db8::1"}],"ingress_vips":[{"ip":"192.0.2.2"}]}`, "found 2 and 1",
		},
		"addresses on a network of the user": {
			`{"user_managed_networking":true,"api_vips":[{"ip":"192.0.2.1"}]}`, "user-managed networking",
		},
		"managed networking without platform": {`{"platform":{"type":"none"},"user_managed_networking":false}`, "platform none"},
		"a load balancer without platform":    {`{"platform":{"type":"none"},"load_balancer":{"type":"user-managed"}}`, "cluster-managed"},
		"an external platform without a name": {`{"platform":{"type":"external"}}`, "platform_name"},
		"a proxy that is no address":          {`{"http_proxy":"proxy:3128"}`, "http://"},
		"an https address of the http proxy":  {`{"http_proxy":"https://proxy:3128"}`, "http://"},
		"an exception that is invalid":        {`{"no_proxy":"example.com, a b"}`, "no_proxy"},
		"a time source that is invalid":       {`{"additional_ntp_source":"ntp example"}`, "additional_ntp_source"},
		"tang without servers":                {`{"disk_encryption":{"enable_on":"all","mode":"tang"}}`, "tang_servers"},
		"tang servers that are no list": {
			`{"disk_encryption":{"mode":"tang","tang_servers":"http://tang.example.com"}}`, "JSON list",
		},
		"an empty list of tang servers": {`{"disk_encryption":{"mode":"tang","tang_servers":"[]"}}`, "at least one server"},
		"a tang server without an address": {
			`{"disk_encryption":{"tang_servers":"[{\"thumbprint\":\"PLjNyRdGw03zlRoGjQYMahSZGu9\"}]"}}`, "http://",
		},
		"a tang server without a thumbprint": {
			`{"disk_encryption":{"tang_servers":"[{\"url\":\"http://tang.example.com\"}]"}}`, "thumbprint",
		},
		"an endpoint that is no address":      {`{"ignition_endpoint":{"url":"example.com/config"}}`, "ignition_endpoint.url"},
		"an endpoint of another kind":         {`{"ignition_endpoint":{"url":"ftp://example.com"}}`, "ignition_endpoint.url"},
		"an authority that is no base64":      {`{"ignition_endpoint":{"ca_certificate":"-----BEGIN"}}`, "base64"},
		"an authority that is no certificate": {`{"ignition_endpoint":{"ca_certificate":"aGVsbG8="}}`, "certificates in PEM"},
		"a name of the API that is invalid":   {`{"api_vip_dns_name":"api prod"}`, "api_vip_dns_name"},
		"two lists of time sources":           {`{"additional_ntp_source":"192.0.2.1","ntp_sources":"192.0.2.2"}`, "one of them"},
		"another time source that is invalid": {`{"ntp_sources":"ntp example"}`, "ntp_sources"},
		"a platform name of no platform":      {`{"platform":{"type":"none","external":{"platform_name":"oci"}}}`, "platform_name"},
		"a manager of no external platform": {
			`{"platform":{"type":"none","external":{"cloud_controller_manager":"External"}}}`, "cloud_controller_manager",
		},
		"managed networking on another's site": {
			`{"platform":{"type":"external","external":{"platform_name":"x"}},"user_managed_networking":false}`, "platform external",
		},
		"a control plane of none":       {`{"control_plane_count":0}`, "1 to 5"},
		"a control plane below none":    {`{"control_plane_count":-3}`, "1 to 5"},
		"an operator without a name":    {`{"olm_operators":[{"properties":"{}"}]}`, "olm_operators"},
		"a control plane of seven":      {`{"control_plane_count":7}`, "1 to 5"},
		"a pull secret that is invalid": {`{"pull_secret":"{}"}`, "pull_secret"},
	} {
		refused(t, change(t, defined(t, nil), call.body), call.want, name)
	}
}

func TestClustersThatCannotBeAreNotRegistered(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]struct {
		fields map[string]any
		want   string
	}{
		"a version that is not available":      {map[string]any{"openshift_version": "4.99"}, "4.22.9"},
		"an architecture without a release":    {map[string]any{"cpu_architecture": "s390x"}, "cpu_architecture"},
		"four hosts in a version without them": {map[string]any{"openshift_version": "4.16", "control_plane_count": 4}, "4.18"},
		"none and three at once": {
			map[string]any{"high_availability_mode": "None", "control_plane_count": 3}, "high_availability_mode",
		},
	} {
		_, err := define(t, offer(t), call.fields)
		refused(t, err, call.want, name)
	}
}

func TestPrivateRegistriesMustBeInThePullSecret(t *testing.T) {
	t.Parallel()
	o := offer(t)
	o.PublicRegistries, o.AnyReleaseImage = []string{"registry.example"}, true
	_, err := define(t, o, nil)
	refused(t, err, `"quay.io"`, "of the release")
	_, err = define(t, o, map[string]any{"ocp_release_image": "registry.example/ocp/release:4.22.9"})
	require.NoError(t, err)
}

func TestPullSecretsMayHaveEntriesOfRepositoriesAndMirrors(t *testing.T) {
	t.Parallel()
	const image = "quay.io/ocp/release:4.22.9"
	mirrored := func(string) []string {
		return []string{"mirror.example:5000/ocp/release:4.22.9", "[2001:db8::1]:5000/ocp:4.22.9"}
	}
	for name, c := range map[string]struct {
		key     string
		mirrors func(string) []string
		want    string
	}{
		"the registry":                       {"quay.io", nil, ""},
		"an address of the registry":         {"https://quay.io/v2/", nil, ""},
		"its organization":                   {"quay.io/ocp", nil, ""},
		"its repository":                     {"quay.io/ocp/release", nil, ""},
		"another organization":               {"quay.io/other", nil, `no entry for registry "quay.io"`},
		"the beginning of its organization":  {"quay.io/oc", nil, `no entry for registry "quay.io"`},
		"the beginning of its repository":    {"quay.io/ocp/rel", nil, `"quay.io"`},
		"a mirror that is not configured":    {"mirror.example:5000", nil, `"quay.io"`},
		"its mirror":                         {"mirror.example:5000", mirrored, ""},
		"the repository at its mirror":       {"mirror.example:5000/ocp/release", mirrored, ""},
		"its second mirror":                  {"[2001:db8::1]:5000", mirrored, ""},
		"the source beside mirrors":          {"quay.io", mirrored, ""},
		"its mirror without the port":        {"mirror.example", mirrored, `no entry for registry "quay.io" or a mirror of it`},
		"another repository of its mirror":   {"mirror.example:5000/other", mirrored, "or a mirror of it"},
		"its mirror with another port":       {"mirror.example:5001", mirrored, "or a mirror of it"},
		"a registry whose name begins so":    {"quay.io.example", nil, `"quay.io"`},
		"the registry, whose auth is empty!": {"quay.io", nil, ""},
	} {
		o := offer(t)
		o.PublicRegistries, o.AnyReleaseImage, o.Mirrors = []string{"registry.example"}, true, c.mirrors
		auth := "dXNlcjpwYXNz"
		if strings.HasSuffix(name, "!") {
			auth = ""
		}
		secret := fmt.Sprintf(`{"auths":{"cloud.openshift.com":{"auth":"dXNlcjpwYXNz"},%q:{"auth":%q}}}`, c.key, auth)
		made, err := define(t, o, map[string]any{"ocp_release_image": image, "pull_secret": secret})
		if c.want != "" {
			refused(t, err, c.want, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, secret, made.PullSecret.Reveal(), name)
	}
	o := offer(t)
	o.PublicRegistries, o.AnyReleaseImage, o.Mirrors = []string{"mirror.example:5000"}, true, mirrored
	_, err := define(t, o, map[string]any{"ocp_release_image": image})
	require.NoError(t, err, "its mirror is public")
}

func TestAnotherFamilyOfAddressesGetsDefaultsOfItsOwn(t *testing.T) {
	t.Parallel()
	v6 := defined(t, map[string]any{"machine_networks": []any{map[string]any{"cidr": "2001:db8::/64"}}})
	require.Len(t, v6.ClusterNetworks, 1)
	require.Equal(t, "fd01::/48", v6.ClusterNetworks[0].CIDR.String())
	require.Equal(t, "fd02::/112", v6.ServiceNetworks[0].String())
	dual := defined(t, map[string]any{
		"machine_networks": []any{map[string]any{"cidr": "192.0.2.0/24"}, map[string]any{"cidr": "2001:db8::/64"}},
	})
	require.Len(t, dual.ClusterNetworks, 2)
	require.Len(t, dual.ServiceNetworks, 2)
}

func TestOlderFieldsOfSingleNetworksStillWork(t *testing.T) {
	t.Parallel()
	c := defined(t, map[string]any{
		"cluster_network_cidr": "10.0.0.0/16", "cluster_network_host_prefix": 25, "service_network_cidr": "10.1.0.0/16",
	})
	require.Equal(t, "10.0.0.0/16", c.ClusterNetworks[0].CIDR.String())
	require.Equal(t, 25, c.ClusterNetworks[0].HostPrefix)
	require.Equal(t, "10.1.0.0/16", c.ServiceNetworks[0].String())
	require.NoError(t, change(t, c, `{"machine_network_cidr":"192.0.2.0/24","cluster_network_host_prefix":26}`))
	require.Equal(t, "192.0.2.0/24", c.MachineNetworks[0].String())
	require.Equal(t, 26, c.ClusterNetworks[0].HostPrefix)
}

func TestUserManagedNetworkingDropsTheAddressesOfTheCluster(t *testing.T) {
	t.Parallel()
	c := defined(t, map[string]any{
		"api_vips": []any{map[string]any{"ip": "192.0.2.1"}}, "ingress_vips": []any{map[string]any{"ip": "192.0.2.2"}},
	})
	require.NoError(t, change(t, c, `{"user_managed_networking":true}`))
	require.Equal(t, "none", c.Platform.Type)
	require.Empty(t, c.APIVIPs)
	require.NoError(t, change(t, c, `{"user_managed_networking":false}`))
	require.Equal(t, "baremetal", c.Platform.Type)
}

func TestChangesThatStepsDependOnAreReported(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"api_vips":[{"ip":"192.0.2.1"}],"ingress_vips":[{"ip":"192.0.2.2"}]}`: true,
		`{"ntp_sources":"192.0.2.9"}`:                                           true,
		`{"tags":"a"}`:                                                          false,
		`{"http_proxy":"http://192.0.2.3:1"}`:                                   false,
	} {
		var p wire.V2ClusterUpdateParams
		require.NoError(t, json.Unmarshal([]byte(body), &p))
		got, err := offer(t).Change(defined(t, nil), p, definition.Surroundings{})
		require.NoError(t, err)
		require.Equal(t, want, got, body)
	}
}

func TestInstalledClustersKeepTheirDefinition(t *testing.T) {
	t.Parallel()
	c := defined(t, nil)
	c.Kind, c.Status = model.KindAddHostsCluster, model.ClusterAddingHosts
	for _, body := range []string{`{"name":"other"}`, `{"network_type":"OVNKubernetes"}`, `{"control_plane_count":1}`} {
		require.ErrorIs(t, change(t, c, body), model.ErrConflict, body)
	}
	require.NoError(t, change(t, c, `{"api_vip_dns_name":"api.example.com"}`))
	c.Imported = true
	require.NoError(t, change(t, c, `{"name":"other"}`))
}

func TestVIPsOfADHCPServerChooseTheirNetworkType(t *testing.T) {
	t.Parallel()
	list, err := openshift.ParseReleases([]byte(`[
		{"version":"4.15.9","cpu_architectures":["x86_64"],"support_level":"maintenance","url":"quay.io/ocp/release:4.15.9-x86_64"},
		{"version":"4.14.9","cpu_architectures":["x86_64"],"support_level":"maintenance","url":"quay.io/ocp/release:4.14.9-x86_64"}]`))
	require.NoError(t, err)
	o := definition.Offer{Releases: openshift.NewCatalogue(list)}
	c, err := define(t, o, map[string]any{"openshift_version": "4.14.9", "vip_dhcp_allocation": true})
	require.NoError(t, err)
	require.Equal(t, "OpenShiftSDN", c.NetworkType)
	c, err = define(t, o, map[string]any{"openshift_version": "4.14.9"})
	require.NoError(t, err)
	require.Equal(t, "OVNKubernetes", c.NetworkType)
	_, err = define(t, o, map[string]any{"openshift_version": "4.14.9", "vip_dhcp_allocation": true, "network_type": "OVNKubernetes"})
	refused(t, err, "vip_dhcp_allocation", "the network type of the user stays")
	_, err = define(t, o, map[string]any{"openshift_version": "4.15.9", "vip_dhcp_allocation": true})
	refused(t, err, "require OpenShift before 4.15", "OpenShift 4.15")
}

func TestVIPsMoveBetweenTheirUserAndADHCPServer(t *testing.T) {
	t.Parallel()
	list, err := openshift.ParseReleases([]byte(`[
		{"version":"4.14.9","cpu_architectures":["x86_64"],"support_level":"maintenance","url":"quay.io/ocp/release:4.14.9-x86_64"}]`))
	require.NoError(t, err)
	o := definition.Offer{Releases: openshift.NewCatalogue(list)}
	c, err := define(t, o, map[string]any{"openshift_version": "4.14.9", "vip_dhcp_allocation": true})
	require.NoError(t, err)
	leased := []model.VIP{{IP: netip.MustParseAddr("1.2.3.102")}}
	c.APIVIPs, c.IngressVIPs, c.APIVIPLease, c.IngressVIPLease = leased, leased, "lease {}", "lease {}"

	require.NoError(t, change(t, c, `{"vip_dhcp_allocation":false}`))
	require.Empty(t, c.APIVIPs)
	require.Empty(t, c.IngressVIPs)
	require.Empty(t, c.APIVIPLease+c.IngressVIPLease)
	require.NoError(t, change(t, c, `{"api_vips":[{"ip":"1.2.3.100"}],"ingress_vips":[{"ip":"1.2.3.101"}]}`))
	require.NoError(t, change(t, c, `{"vip_dhcp_allocation":false}`))
	require.Equal(t, "1.2.3.100", c.APIVIPs[0].IP.String(), "nothing was switched")

	require.NoError(t, change(t, c, `{"vip_dhcp_allocation":true,"machine_networks":[{"cidr":"1.2.3.0/24"}]}`))
	require.Empty(t, c.APIVIPs)
	err = change(t, c, `{"api_vips":[{"ip":"1.2.3.100"}],"ingress_vips":[{"ip":"1.2.3.101"}]}`)
	refused(t, err, "require none with vip_dhcp_allocation, found 2", "the server gives them")
	require.Empty(t, c.APIVIPs)
}

// TestOldReleasesHaveTheirNetworkType follows assisted-service's inventory.go:141 at commit 063b257950f7.
func TestOldReleasesHaveTheirNetworkType(t *testing.T) {
	t.Parallel()
	list, err := openshift.ParseReleases([]byte(`[
		{"version":"4.12.9","cpu_architectures":["x86_64"],"support_level":"maintenance","url":"quay.io/ocp/release:4.12.9-x86_64"},
		{"version":"4.11.59","cpu_architectures":["x86_64"],"support_level":"maintenance","url":"quay.io/ocp/release:4.11.59-x86_64"}]`))
	require.NoError(t, err)
	o := definition.Offer{Releases: openshift.NewCatalogue(list)}
	for name, tt := range map[string]struct {
		sent map[string]any
		want string
	}{
		"several nodes before 4.12": {map[string]any{"openshift_version": "4.11.59"}, "OpenShiftSDN"},
		"several nodes from 4.12":   {map[string]any{"openshift_version": "4.12.9"}, "OVNKubernetes"},
		"a single node":             {map[string]any{"openshift_version": "4.11.59", "control_plane_count": 1}, "OVNKubernetes"},
		"what the user asks for": {
			map[string]any{"openshift_version": "4.11.59", "network_type": "OVNKubernetes"}, "OVNKubernetes",
		},
		"IPv6": {
			map[string]any{"openshift_version": "4.11.59", "machine_networks": []any{map[string]any{"cidr": "2001:db8::/64"}}}, "OVNKubernetes",
		},
	} {
		c, err := define(t, o, tt.sent)
		require.NoError(t, err, name)
		require.Equal(t, tt.want, c.NetworkType, name)
	}
}

func TestSingleNodesAreDefinedWithoutTheVIPsThatWereSent(t *testing.T) {
	t.Parallel()
	vips := map[string]any{
		"control_plane_count": 1,
		"api_vips":            []any{map[string]any{"ip": "192.0.2.5"}}, "ingress_vips": []any{map[string]any{"ip": "192.0.2.6"}},
	}
	c, err := define(t, offer(t), vips)
	require.NoError(t, err)
	require.Empty(t, c.APIVIPs)
	require.Empty(t, c.IngressVIPs)
	require.True(t, c.UserManagedNetworking)
}
