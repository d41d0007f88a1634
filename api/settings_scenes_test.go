package api_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"slipway/api"
)

// scene is a cluster with an InfraEnv and hosts. Its settings fit together; what is required for them is set without them, too.
type scene struct {
	masters, workers  int
	required          map[string]any
	imported          bool // a cluster that exists already
	service           func(*api.Options)
	cluster, infraEnv []setting // of the requests for them
	host              []setting // of the last host
}

const (
	otherKey    = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBm0rbT3aVxH8f2ksR9i7d3m0bN2cYb1xJ7wQ0lqk3pE other"
	otherSecret = `{"auths":{"registry.other.example":{"auth":"b3RoZXI6b3RoZXI="}}}`
)

func scenes(t *testing.T) map[string]scene {
	t.Helper()
	certificate := string(certificate(t))
	authority := base64.StdEncoding.EncodeToString([]byte(certificate))
	return map[string]scene{
		"networks of the cluster": {
			masters: 3, workers: 2,
			cluster: []setting{
				{"name", "lab-7", reach{toInstaller: "name: lab-7", toSteps: "api.lab-7."}},
				{"base_dns_domain", "other.example", reach{toInstaller: "baseDomain: other.example", toSteps: ".other.example"}},
				{"openshift_version", "4.16.68", reach{toImage: "4.16.68"}},
				{"cluster_networks", []any{map[string]any{"cidr": "10.64.0.0/14", "host_prefix": 24}}, reach{toInstaller: "cidr: 10.64.0.0/14"}},
				{"service_networks", cidrs("172.20.0.0/16"), reach{toInstaller: "172.20.0.0/16"}},
				{"machine_networks", cidrs("192.0.2.0/25"), reach{toInstaller: "192.0.2.0/25"}},
				{"api_vips", ips("192.0.2.100"), reach{toInstaller: "192.0.2.100", toSteps: "192.0.2.100"}},
				{"ingress_vips", ips("192.0.2.101"), reach{toInstaller: "192.0.2.101", toSteps: "192.0.2.101"}},
				{"pull_secret", otherSecret, reach{toInstaller: "registry.other.example"}},
				{"ssh_public_key", otherKey, reach{toInstaller: "sshKey: ssh-ed25519"}},
				{"http_proxy", "http://proxy.other.example:3128", reach{
					toInstaller: "httpProxy: http://proxy.other.example:3128", toSteps: "http://proxy.other.example:3128",
				}},
				{"https_proxy", "http://tls.other.example:3128", reach{
					toInstaller: "httpsProxy: http://tls.other.example:3128", toSteps: "http://tls.other.example:3128",
				}},
				{"no_proxy", "direct.other.example", reach{toInstaller: "direct.other.example", toSteps: "direct.other.example"}},
				{"network_type", "Calico", reach{toInstaller: "networkType: Calico"}},
				{"load_balancer", map[string]any{"type": "user-managed"}, reach{toInstaller: "type: UserManaged"}},
			},
			host: []setting{
				{"host_name", "worker-of-lab", reach{toInstaller: "name: worker-of-lab", toIgnition: "worker-of-lab"}},
			},
		},
		"nodes": {
			masters: 3, workers: 3,
			cluster: []setting{
				{"ntp_sources", "ntp.other.example", reach{toInstaller: "ntp.other.example", toManifests: "ntp.other.example"}},
				{"olm_operators", []any{map[string]any{"name": "lso"}}, reach{toManifests: "openshift-local-storage"}},
				{"hyperthreading", "masters", reach{toInstaller: "hyperthreading: Disabled"}},
				{"disk_encryption", map[string]any{"enable_on": "all", "mode": "tpmv2"}, reach{toManifests: "tpm2: true", toValidation: "TPM"}},
				{"schedulable_masters", true, reach{toManifests: "path: /spec/mastersSchedulable"}},
				{"control_plane_count", 4, reach{toValidation: "Found 4 control plane hosts"}},
			},
			host: []setting{
				{"host_role", "master", reach{toMembers: "06 master", toIgnition: "master-00000000-0000-4000-8000-000000000006.ign"}},
				{"disks_selected_config", []any{map[string]any{"id": "wwn-0x2", "role": "install"}}, reach{toSteps: "/dev/sdb"}},
				{"disks_skip_formatting", []any{map[string]any{"disk_id": "wwn-0x3", "skip_formatting": true}}, reach{
					toSteps: `"disks_to_format":["/dev/sda"]`,
				}},
			},
		},
		"fields of former clients": {
			masters: 3, workers: 2,
			service: older,
			required: map[string]any{
				"openshift_version": "4.14", "network_type": "OpenShiftSDN", "machine_networks": nil, "api_vips": nil, "ingress_vips": nil,
			},
			cluster: []setting{
				{"cluster_network_cidr", "10.64.0.0/14", reach{toInstaller: "cidr: 10.64.0.0/14"}},
				{"cluster_network_host_prefix", 24, reach{toInstaller: "hostPrefix: 24"}},
				{"service_network_cidr", "172.20.0.0/16", reach{toInstaller: "172.20.0.0/16"}},
				{"additional_ntp_source", "ntp.other.example", reach{toManifests: "ntp.other.example"}},
				{"vip_dhcp_allocation", true, reach{toSteps: `"api_vip_mac"`}},
				{"machine_network_cidr", "192.0.2.0/25", reach{toInstaller: "192.0.2.0/25"}},
			},
			infraEnv: []setting{{"additional_ntp_sources", "time.other.example", reach{toManifests: "time.other.example"}}},
		},
		"a node of its own": {
			masters:  1,
			required: map[string]any{"api_vips": nil, "ingress_vips": nil, "high_availability_mode": "None"},
			cluster: []setting{
				{"operator_bundles", []any{map[string]any{"id": "virtualization"}}, reach{toManifests: "openshift-cnv"}},
				{"ocp_release_image", "quay.io/ocp/release:4.22.1-x86_64", reach{toSteps: "quay.io/ocp/release:4.22.1-x86_64"}},
			},
		},
		"networks of the user": {
			masters:  3,
			required: map[string]any{"api_vips": nil, "ingress_vips": nil},
			cluster:  []setting{{"user_managed_networking", true, reach{toInstaller: "none: {}"}}},
		},
		"an architecture": {
			masters:  1,
			service:  bothArchitectures,
			required: map[string]any{"api_vips": nil, "ingress_vips": nil, "high_availability_mode": "None", "cpu_architecture": "multi"},
			infraEnv: []setting{{"cpu_architecture", "arm64", reach{toImage: "/arm64/", toBoot: "arch=arm64"}}},
		},
		"a platform": {
			masters: 3,
			cluster: []setting{{"platform", map[string]any{"type": "vsphere"}, reach{toInstaller: "vsphere:"}}},
		},
		"a single node": {
			masters:  1,
			service:  bothArchitectures,
			required: map[string]any{"api_vips": nil, "ingress_vips": nil},
			cluster: []setting{
				{"high_availability_mode", "None", reach{toInstaller: "bootstrapInPlace:"}},
				{"cpu_architecture", "arm64", reach{toImage: "/arm64/", toBoot: "arch=arm64"}},
			},
		},
		"a pair of masters": {
			masters:  2,
			required: map[string]any{"control_plane_count": 2},
			host: []setting{{
				"fencing_credentials",
				map[string]any{"address": "redfish+https://192.0.2.9/redfish/v1/Systems/1", "username": "root", "password": "hunter2"},
				reach{toInstaller: "password: hunter2"},
			}},
		},
		"an existing cluster": {
			workers: 1, imported: true,
			cluster: []setting{
				{"api_vip_dns_name", "api.other.example", reach{toSteps: "api.other.example", toIgnition: "api.other.example"}},
			},
			host: []setting{
				{"machine_config_pool_name", "infra", reach{toSteps: "/config/infra", toIgnition: "/config/infra"}},
				{"node_labels", []any{map[string]any{"key": "example.com/site", "value": "lab"}}, reach{
					toIgnition: "CUSTOM_KUBELET_LABELS=example.com/site=lab",
				}},
			},
		},
		"an existing cluster with an endpoint of its own": {
			workers: 1, imported: true,
			cluster: []setting{{
				"ignition_endpoint",
				map[string]any{"url": "https://mcs.other.example:22624/config", "ca_certificate": authority},
				reach{toSteps: "https://mcs.other.example:22624/config", toIgnition: "https://mcs.other.example:22624/config"},
			}},
			host: []setting{
				{"ignition_endpoint_token", "token-of-the-endpoint", reach{toSteps: "token-of-the-endpoint", toIgnition: "token-of-the-endpoint"}},
				{"ignition_endpoint_http_headers", []any{map[string]any{"key": "X-Of-User", "value": "7"}}, reach{toIgnition: "X-Of-User"}},
			},
		},
		"discovery": {
			masters:  1,
			required: map[string]any{"api_vips": nil, "ingress_vips": nil, "high_availability_mode": "None"},
			infraEnv: []setting{
				{"additional_trust_bundle", certificate, reach{toDiscovery: "BEGIN CERTIFICATE", toInstaller: "BEGIN CERTIFICATE"}},
				{"ignition_config_override", `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/of-the-user"}]}}`, reach{
					toDiscovery: "/etc/of-the-user",
				}},
				{"image_type", "minimal-iso", reach{toImage: "minimal.iso"}},
				{"kernel_arguments", []any{map[string]any{"operation": "append", "value": "of-the-user=1"}}, reach{toBoot: "of-the-user=1"}},
				{"network_discovery_delay_seconds", 77, reach{toDiscovery: "/sys/class/net 92"}},
				{"ntp_sources", "ntp.other.example", reach{toDiscovery: "ntp.other.example", toManifests: "ntp.other.example"}},
				{"openshift_version", "4.16.68", reach{toImage: "4.16.68", toBoot: "4.16.68"}},
				{"proxy", map[string]any{"http_proxy": "http://proxy.other.example:3128"}, reach{toDiscovery: "http://proxy.other.example:3128"}},
				{"pull_secret", otherSecret, reach{toDiscovery: "registry.other.example"}},
				{"ssh_authorized_key", otherKey, reach{toDiscovery: otherKey}},
				{"static_network_config", json.RawMessage("[" + staticHost + "]"), reach{toDiscovery: "mac_interface.ini"}},
			},
		},
	}
}

// noPlace are the fields that lead to none of the places, each with its reason or the test of its place.
var noPlace = map[string]string{
	newCluster + " tags":               "users find clusters by them",
	changedCluster + " tags":           "users find clusters by them",
	newInfraEnv + " name":              "users find InfraEnvs by it",
	newInfraEnv + " cluster_id":        "the hosts of each scene are hosts of its cluster by it",
	newInfraEnv + " rendezvous_ip":     "the config of a disconnected image comes from the installer: images/release, unconfigured_test.go",
	changedInfraEnv + " rendezvous_ip": "the same",
}
