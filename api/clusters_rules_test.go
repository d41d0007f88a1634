package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/api"
)

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	for name, call := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"a name that is no DNS name":           {`{"name":"Prod_1"}`, 400, "lower-case"},
		"a name with a dot on bare metal":      {`{"name":"a.b"}`, 400, "DNS name"},
		"a name that ends in a hyphen":         {`{"name":"prod-"}`, 400, "DNS name"},
		"a domain that is none":                {`{"base_dns_domain":"exa mple.com"}`, 400, "base_dns_domain"},
		"a domain in capitals":                 {`{"base_dns_domain":"Example.com"}`, 400, "base_dns_domain"},
		"a key that is none":                   {`{"ssh_public_key":"ssh-rsa AAAA"}`, 400, "ssh_public_key"},
		"a key with another type in it":        {`{"ssh_public_key":"ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIHUBFNCkJIFJy2xcBfjnFyxd0BMqmKSbt3BEW1eZYMBX"}`, 400, "ssh_public_key"},
		"a network that is an address":         {`{"machine_networks":[{"cidr":"192.0.2.5/24"}]}`, 400, "192.0.2.0/24"},
		"a network that is none":               {`{"machine_networks":[{"cidr":"292.0.2.0/24"}]}`, 400, "machine_networks"},
		"two networks of one family":           {`{"service_networks":[{"cidr":"10.0.0.0/16"},{"cidr":"10.1.0.0/16"}]}`, 400, "at most one value for IPv4"},
		"a host prefix wider than the network": {`{"cluster_networks":[{"cidr":"10.128.0.0/14","host_prefix":12}]}`, 400, "from 14 to 32"},
		"one address for API and ingress":      {`{"api_vips":[{"ip":"192.0.2.1"}],"ingress_vips":[{"ip":"192.0.2.1"}]}`, 400, "different addresses"},
		"two API addresses and one ingress":    {`{"api_vips":[{"ip":"192.0.2.1"},{"ip":"2001:db8::1"}],"ingress_vips":[{"ip":"192.0.2.2"}]}`, 400, "found 2 and 1"},
		"addresses on a network of the user":   {`{"user_managed_networking":true,"api_vips":[{"ip":"192.0.2.1"}]}`, 400, "user-managed networking"},
		"managed networking without platform":  {`{"platform":{"type":"none"},"user_managed_networking":false}`, 400, "platform none"},
		"a load balancer without platform":     {`{"platform":{"type":"none"},"load_balancer":{"type":"user-managed"}}`, 400, "cluster-managed"},
		"an external platform without a name":  {`{"platform":{"type":"external"}}`, 400, "platform_name"},
		"a proxy that is no address":           {`{"http_proxy":"proxy:3128"}`, 400, "http://"},
		"an https address of the http proxy":   {`{"http_proxy":"https://proxy:3128"}`, 400, "http://"},
		"an exception that is none":            {`{"no_proxy":"example.com, a b"}`, 400, "no_proxy"},
		"a time source that is none":           {`{"additional_ntp_source":"ntp example"}`, 400, "additional_ntp_source"},
		"tang without servers":                 {`{"disk_encryption":{"enable_on":"all","mode":"tang"}}`, 400, "tang_servers"},
		"tang servers that are no list":        {`{"disk_encryption":{"mode":"tang","tang_servers":"http://tang.example.com"}}`, 400, "JSON list"},
		"an empty list of tang servers":        {`{"disk_encryption":{"mode":"tang","tang_servers":"[]"}}`, 400, "at least one server"},
		"a tang server without an address":     {`{"disk_encryption":{"tang_servers":"[{\"thumbprint\":\"PLjNyRdGw03zlRoGjQYMahSZGu9\"}]"}}`, 400, "http://"},
		"a tang server without a thumbprint":   {`{"disk_encryption":{"tang_servers":"[{\"url\":\"http://tang.example.com\"}]"}}`, 400, "thumbprint"},
		"an endpoint that is no address":       {`{"ignition_endpoint":{"url":"example.com/config"}}`, 400, "ignition_endpoint.url"},
		"an endpoint of another kind":          {`{"ignition_endpoint":{"url":"ftp://example.com"}}`, 400, "ignition_endpoint.url"},
		"an authority that is no base64":       {`{"ignition_endpoint":{"ca_certificate":"-----BEGIN"}}`, 400, "base64"},
		"an authority that is no certificate":  {`{"ignition_endpoint":{"ca_certificate":"aGVsbG8="}}`, 400, "certificates in PEM"},
		"a name of the API that is none":       {`{"api_vip_dns_name":"api prod"}`, 400, "api_vip_dns_name"},
		"two lists of time sources":            {`{"additional_ntp_source":"192.0.2.1","ntp_sources":"192.0.2.2"}`, 400, "one of them"},
		"another time source that is none":     {`{"ntp_sources":"ntp example"}`, 400, "ntp_sources"},
		"a platform name of no platform":       {`{"platform":{"type":"none","external":{"platform_name":"oci"}}}`, 400, "platform_name"},
		"a manager of no external platform":    {`{"platform":{"type":"none","external":{"cloud_controller_manager":"External"}}}`, 400, "cloud_controller_manager"},
		"managed networking on another's site": {`{"platform":{"type":"external","external":{"platform_name":"x"}},"user_managed_networking":false}`, 400, "platform external"},
		"a control plane of none":              {`{"control_plane_count":0}`, 400, "1 to 5"},
		"a control plane below none":           {`{"control_plane_count":-3}`, 400, "1 to 5"},
		"an operator without a name":           {`{"olm_operators":[{"properties":"{}"}]}`, 400, "olm_operators"},
		"a control plane of seven":             {`{"control_plane_count":7}`, 400, "1 to 5"},
		"a pull secret that is none":           {`{"pull_secret":"{}"}`, 400, "pull_secret"},
	} {
		require.Contains(t, s.send(http.MethodPatch, clusterPath(c.ID), call.body).reason(call.status), call.want, name)
	}
}

func TestClustersThatCannotBeAreNotRegistered(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for name, call := range map[string]struct {
		fields map[string]any
		want   string
	}{
		"a version that is not available":      {map[string]any{"openshift_version": "4.99"}, "4.22.9"},
		"an architecture without a release":   {map[string]any{"cpu_architecture": "s390x"}, "cpu_architecture"},
		"four hosts before they were offered": {map[string]any{"openshift_version": "4.16", "control_plane_count": 4}, "4.18"},
		"none and three at once":              {map[string]any{"high_availability_mode": "None", "control_plane_count": 3}, "high_availability_mode"},
	} {
		body := map[string]any{"name": "x", "openshift_version": "4.22", "pull_secret": pullSecret}
		for key, value := range call.fields {
			body[key] = value
		}
		require.Contains(t, s.send(http.MethodPost, "/v2/clusters", body).reason(http.StatusBadRequest), call.want, name)
	}
}

func TestPrivateRegistriesMustBeInThePullSecret(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *api.Options) {
		o.PublicRegistries, o.AnyReleaseImage = []string{"registry.example"}, true
	})
	body := map[string]any{"name": "x", "openshift_version": "4.22", "pull_secret": pullSecret}
	require.Contains(t, s.send(http.MethodPost, "/v2/clusters", body).reason(http.StatusBadRequest), `"quay.io"`)
	body["ocp_release_image"] = "registry.example/ocp/release:4.22.9"
	s.want(http.StatusCreated, http.MethodPost, "/v2/clusters", body)
}

func TestAnotherFamilyOfAddressesGetsDefaultsOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newService(t)
	v6 := s.cluster(map[string]any{"machine_networks": []any{map[string]any{"cidr": "2001:db8::/64"}}})
	require.Len(t, v6.ClusterNetworks, 1)
	require.Equal(t, "fd01::/48", v6.ClusterNetworks[0].Cidr)
	require.Equal(t, "fd02::/112", v6.ServiceNetworks[0].Cidr)
	dual := s.cluster(map[string]any{"machine_networks": []any{map[string]any{"cidr": "192.0.2.0/24"}, map[string]any{"cidr": "2001:db8::/64"}}})
	require.Len(t, dual.ClusterNetworks, 2)
	require.Len(t, dual.ServiceNetworks, 2)
}

func TestOlderFieldsOfSingleNetworksStillWork(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"cluster_network_cidr": "10.0.0.0/16", "cluster_network_host_prefix": 25, "service_network_cidr": "10.1.0.0/16"})
	require.Equal(t, "10.0.0.0/16", c.ClusterNetworks[0].Cidr)
	require.Equal(t, 25, c.ClusterNetworks[0].HostPrefix)
	require.Equal(t, "10.1.0.0/16", c.ServiceNetworks[0].Cidr)
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"machine_network_cidr":"192.0.2.0/24","cluster_network_host_prefix":26}`)
	got := s.readCluster(c.ID)
	require.Equal(t, "192.0.2.0/24", got.MachineNetworks[0].Cidr)
	require.Equal(t, 26, got.ClusterNetworks[0].HostPrefix)
}

func TestUserManagedNetworkingDropsTheAddressesOfTheCluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"api_vips": []any{map[string]any{"ip": "192.0.2.1"}}, "ingress_vips": []any{map[string]any{"ip": "192.0.2.2"}}})
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"user_managed_networking":true}`)
	got := s.readCluster(c.ID)
	require.Equal(t, "none", string(got.Platform.Type))
	require.Empty(t, got.APIVips)
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"user_managed_networking":false}`)
	require.Equal(t, "baremetal", string(s.readCluster(c.ID).Platform.Type))
}
