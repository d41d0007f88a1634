package api_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/cluster/openshift"
)

const tangServers = `[{"url":"http://tang.example.com:7500","thumbprint":"PLjNyRdGw03zlRoGjQYMahSZGu9"}]`

// certificate makes a certificate in PEM.
func certificate(t testing.TB) []byte {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func TestEveryFieldOfAClusterIsTakenAndShown(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ca := base64.StdEncoding.EncodeToString(certificate(t))
	for name, call := range map[string]struct{ sent, shown string }{
		"another name": {`{"name":"other"}`, `{"name":"other"}`},
		"a domain":     {`{"base_dns_domain":"lab.example.com"}`, `{"base_dns_domain":"lab.example.com"}`},
		"a key":        {`{"ssh_public_key":"` + sshKey + `\n"}`, `{"ssh_public_key":"` + sshKey + `"}`},
		"tags":         {`{"tags":"a,b"}`, `{"tags":"a,b"}`},
		"an endpoint with its certificate": {
			`{"ignition_endpoint":{"url":"https://[2001:db8::1]:22624/config","ca_certificate":"` + ca + `"}}`,
			`{"ignition_endpoint":{"url":"https://[2001:db8::1]:22624/config","ca_certificate":"` + ca + `"}}`,
		},
		"a name of its API": {`{"api_vip_dns_name":"api.prod.example.com"}`, `{"api_vip_dns_name":"api.prod.example.com"}`},
		"encryption with tang": {
			`{"disk_encryption":{"enable_on":"arbiters,workers","mode":"tang","tang_servers":` + quoted(tangServers) + `}}`,
			`{"disk_encryption":{"enable_on":"arbiters,workers","mode":"tang","tang_servers":` + quoted(tangServers) + `}}`,
		},
		"encryption with tpm": {
			`{"disk_encryption":{"enable_on":"masters,arbiters"}}`, `{"disk_encryption":{"enable_on":"masters,arbiters","mode":"tpmv2"}}`,
		},
		"hyperthreading by roles": {
			`{"hyperthreading":"masters,arbiters,workers"}`, `{"hyperthreading":"masters,arbiters,workers"}`,
		},
		"schedulable control plane": {`{"schedulable_masters":true}`, `{"schedulable_masters":true}`},
		"a proxy with exceptions": {
			`{"http_proxy":"http://user:pw@proxy.example:3128","https_proxy":"https://proxy.example:3129","no_proxy":".example.com,192.0.2.0/24,2001:db8::1"}`,
			`{"http_proxy":"http://user:pw@proxy.example:3128","https_proxy":"https://proxy.example:3129","no_proxy":".example.com,192.0.2.0/24,2001:db8::1"}`,
		},
		"no proxy at all": {`{"no_proxy":"*"}`, `{"no_proxy":"*"}`},
		"more sources of time": {
			`{"additional_ntp_source":"192.0.2.9, ntp.example.com,192.0.2.9"}`, `{"additional_ntp_source":"192.0.2.9,ntp.example.com"}`,
		},
		"only these sources of time":      {`{"ntp_sources":"192.0.2.9"}`, `{"ntp_sources":"192.0.2.9"}`},
		"a network type of somebody else": {`{"network_type":"Calico"}`, `{"network_type":"Calico"}`},
		"a pod network without host prefix": {
			`{"cluster_networks":[{"cidr":"10.0.0.0/16"}]}`, `{"cluster_networks":[{"cidr":"10.0.0.0/16","host_prefix":23}]}`,
		},
		"a load balancer of the user": {
			`{"load_balancer":{"type":"user-managed"},"machine_networks":[{"cidr":"192.0.2.0/24"}],
				"api_vips":[{"ip":"192.0.2.1"}],"ingress_vips":[{"ip":"192.0.2.1"}]}`,
			`{"load_balancer":{"type":"user-managed"},"api_vips":[{"ip":"192.0.2.1"}],"ingress_vips":[{"ip":"192.0.2.1"}]}`,
		},
		"nutanix": {
			`{"platform":{"type":"nutanix"}}`, `{"platform":{"type":"nutanix"},"user_managed_networking":false}`,
		},
		"vsphere": {
			`{"platform":{"type":"vsphere"}}`, `{"platform":{"type":"vsphere"},"user_managed_networking":false}`,
		},
		"vsphere with its user's network": {
			`{"platform":{"type":"vsphere"},"user_managed_networking":true}`,
			`{"platform":{"type":"vsphere"},"user_managed_networking":true}`,
		},
		"an external platform": {
			`{"platform":{"type":"external","external":{"platform_name":"oci","cloud_controller_manager":"External"}}}`,
			`{"platform":{"type":"external","external":{"platform_name":"oci","cloud_controller_manager":"External"}},"user_managed_networking":true}`,
		},
		"a control plane of two":  {`{"control_plane_count":2}`, `{"control_plane_count":2,"high_availability_mode":"Full"}`},
		"a control plane of four": {`{"control_plane_count":4}`, `{"control_plane_count":4}`},
		"a single node": {
			`{"control_plane_count":1}`,
			`{"control_plane_count":1,"high_availability_mode":"None","platform":{"type":"none"},"user_managed_networking":true}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			fields := map[string]any{}
			require.NoError(t, json.Unmarshal([]byte(call.sent), &fields))
			want := map[string]any{}
			require.NoError(t, json.Unmarshal([]byte(call.shown), &want))
			changed := s.cluster(nil)
			s.want(http.StatusCreated, http.MethodPatch, clusterPath(changed.ID), call.sent)
			got := s.want(http.StatusOK, http.MethodGet, clusterPath(changed.ID), nil).Object()
			for field, value := range want {
				require.Equal(t, value, shown(got[field], value), "changed: %s", field)
			}
			if _, onlyOfUpdates := fields["api_vip_dns_name"]; onlyOfUpdates {
				return
			}
			registered := s.cluster(fields)
			got = s.want(http.StatusOK, http.MethodGet, clusterPath(registered.ID), nil).Object()
			for field, value := range want {
				require.Equal(t, value, shown(got[field], value), "registered: %s", field)
			}
		})
	}
}

// shown drops what the service adds to a value that was sent.
func shown(got, want any) any {
	if asked, object := want.(map[string]any); object {
		if _, external := asked["external"]; external {
			return got
		}
	}
	return withoutClusterID(got)
}

func TestFieldsTakeTheirValueBack(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{
		"ignition_endpoint": map[string]any{"url": "https://example.com"}, "ntp_sources": "192.0.2.9",
		"disk_encryption": map[string]any{"enable_on": "all", "mode": "tang", "tang_servers": tangServers},
	})
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"disk_encryption":{"enable_on":"masters"}}`)
	require.JSONEq(t, tangServers, s.readCluster(c.ID).DiskEncryption.TangServers, "servers stay with their mode")
	s.want(
		http.StatusCreated,
		http.MethodPatch,
		clusterPath(c.ID),
		`{"disk_encryption":{"mode":"tpmv2"},"ignition_endpoint":{},"additional_ntp_source":""}`,
	)
	got := s.readCluster(c.ID)
	require.Empty(t, got.DiskEncryption.TangServers)
	require.Empty(t, got.IgnitionEndpoint.URL)
	require.Equal(t, "192.0.2.9", got.NtpSources, "the other field says nothing about these")
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"ntp_sources":""}`)
	require.Empty(t, s.readCluster(c.ID).NtpSources)
}

// older sets up a service with versions with OpenShiftSDN.
func older(o *api.Options) {
	list, err := openshift.ParseReleases([]byte(`[
		{"version":"4.14.50","cpu_architectures":["x86_64"],"support_level":"maintenance","default":true,"url":"quay.io/ocp/release:4.14.50-x86_64"}]`))
	if err != nil {
		panic(err)
	}
	o.Releases = openshift.NewCatalogue(list)
}

func TestVirtualAddressesCanBeLeasedInOlderVersions(t *testing.T) {
	t.Parallel()
	s := newService(t, older)
	c := s.cluster(map[string]any{
		"openshift_version": "4.14", "network_type": "OpenShiftSDN", "vip_dhcp_allocation": true,
		"cluster_network_cidr": "10.0.0.0/16",
	})
	require.True(t, c.VipDhcpAllocation)
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"machine_network_cidr":"192.0.2.0/24"}`)
	for name, call := range map[string]struct{ body, want string }{
		"addresses of the user": {`{"api_vips":[{"ip":"192.0.2.1"}]}`, "vip_dhcp_allocation"},
		"another network type":  {`{"network_type":"OVNKubernetes"}`, "OpenShiftSDN"},
		"two machine networks":  {`{"machine_networks":[{"cidr":"192.0.2.0/24"},{"cidr":"198.51.100.0/24"}]}`, "one machine network"},
		"an IPv6 network":       {`{"machine_networks":[{"cidr":"2001:db8::/64"}]}`, "IPv4"},
		"no platform":           {`{"platform":{"type":"none"}}`, "VIP_AUTO_ALLOC"},
		"a single node":         {`{"control_plane_count":1}`, "VIP_AUTO_ALLOC"},
	} {
		require.Contains(t, s.send(http.MethodPatch, clusterPath(c.ID), call.body).Reason(http.StatusBadRequest), call.want, name)
	}
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID),
		`{"vip_dhcp_allocation":false,"network_type":"OVNKubernetes","api_vips":[{"ip":"192.0.2.1"}],"ingress_vips":[{"ip":"192.0.2.2"}]}`)
	require.False(t, s.readCluster(c.ID).VipDhcpAllocation)
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"vip_dhcp_allocation":true,"network_type":"OpenShiftSDN"}`)
	require.Empty(t, s.readCluster(c.ID).APIVips, "the user's addresses mean nothing any more")
}
