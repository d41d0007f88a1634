package standin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// on returns the highly available cluster on another platform.
func on(platform string) string {
	begin, end := strings.Index(highlyAvailable, "platform:"), strings.Index(highlyAvailable, "pullSecret")
	return highlyAvailable[:begin] + platform + highlyAvailable[end:]
}

func TestRulesOfTheRealInstaller(t *testing.T) {
	t.Parallel()
	fips := "fips: true\nsshKey: ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBCgQ7JBbyQLU99/p5b0NC/iMlXOo" +
		"glj6kJLn+PzeWwegwqmaVY/acOpmlRf14OsYRLUBuNYlTZjNlj+K+EflqDk=\n"
	fenced := "replicas: 2, fencing: {credentials: [{hostName: a, address: x}, {hostName: b, address: y}]}"
	skip := "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION=true"
	version := func(v string) string { return "STANDIN_VERSION=" + v }
	for name, c := range map[string]struct {
		config string
		old    string // replaced once by new
		new    string
		env    []string
		want   string // of the error; empty: accepted
	}{
		"fips by a program that cannot": {
			highlyAvailable, sshKeyLine, fips,
			nil, "fips: Forbidden: target cluster is in FIPS mode, " +
				"use the FIPS-capable installer binary for RHEL 9 on a host with FIPS enabled.",
		},
		"fips on a machine without": {
			highlyAvailable, sshKeyLine, fips,
			[]string{"STANDIN_BUILD=dynamic"},
			"fips: Forbidden: target cluster is in FIPS mode, enable FIPS mode on the host",
		},
		"fips where it can be": {
			highlyAvailable, sshKeyLine, fips,
			[]string{"STANDIN_BUILD=dynamic", "STANDIN_HOST_FIPS=1"},
			"",
		},
		"fips without a look": {highlyAvailable, sshKeyLine, fips, []string{skip}, ""},
		"fips before 4.16":    {highlyAvailable, sshKeyLine, fips, []string{version("4.15.50")}, ""},
		"fips with a key it cannot use": {
			highlyAvailable, "sshKey:", "fips: true\nsshKey:",
			[]string{skip},
			"SSH key type ssh-ed25519 unavailable when FIPS is enabled. Please use rsa or ecdsa.",
		},
		"two lists of mirrors": {
			highlyAvailable, "sshKey:", "imageContentSources: [{source: a.io/b, mirrors: [c.io/d]}]\n" +
				"imageDigestSources: [{source: a.io/b, mirrors: [c.io/d]}]\nsshKey:",
			nil, "cannot set imageContentSources and imageDigestSources at the same time",
		},
		"a mirror with a tag": {
			highlyAvailable, "sshKey:", "imageDigestSources: [{source: 'a.io/b:1', mirrors: [c.io/d]}]\nsshKey:",
			nil, "imageDigestSources[0]: Invalid value: \"a.io/b:1\"",
		},
		"a key among the certificates": {
			highlyAvailable, "sshKey:",
			"additionalTrustBundle: \"-----BEGIN RSA PRIVATE KEY-----\\nAAAA\\n-----END RSA PRIVATE KEY-----\\n\"\nsshKey:",
			nil, "additionalTrustBundle: Invalid value",
		},
		"networks that overlap": {
			highlyAvailable, "172.30.0.0/16", "10.130.0.0/16",
			nil, "cluster network must not overlap with service network 0",
		},
		"a network of the plugin": {
			highlyAvailable, "172.30.0.0/16", "100.64.0.0/16",
			nil, "must not overlap with OVN-Kubernetes join subnet 100.64.0.0/16",
		},
		"a network of the plugin before": {highlyAvailable, "172.30.0.0/16", "100.64.0.0/16", []string{version("4.18.1")}, ""},
		"SDN": {
			highlyAvailable, "OVNKubernetes", "OpenShiftSDN",
			nil, "OpenShiftSDN is not supported, please use OVNKubernetes",
		},
		"SDN before 4.16":    {highlyAvailable, "OVNKubernetes", "OpenShiftSDN", []string{version("4.15.50")}, ""},
		"no machine network": {highlyAvailable, "[{cidr: 192.168.10.0/24}]", "[]", nil, "at least one machine network is required"},
		"the same VIP twice": {
			highlyAvailable, "[192.168.10.6]", "[192.168.10.5]",
			nil, "VIP for API must not be one of the Ingress VIPs",
		},
		"a dot in the name": {highlyAvailable, "{name: one}", "{name: o.ne}", nil, "metadata.name: Invalid value"},
		"no hosts": {
			on("platform: {baremetal: {apiVIPs: [192.168.10.5], ingressVIPs: [192.168.10.6]}}\n"), "", "",
			nil, "bare metal hosts are missing",
		},
		"a boot mode": {highlyAvailable, "bootMode: legacy", "bootMode: BIOS", nil, "bootMode: Unsupported value"},
		"an arbiter before its version": {
			highlyAvailable, "sshKey:", "arbiter: {name: arbiter, replicas: 0}\nsshKey:",
			[]string{version("4.19.1")},
			"HighlyAvailableArbiter feature must be enabled in order to use arbiter cluster deployment",
		},
		"an arbiter on platform none": {
			on("platform: {none: {}}\narbiter: {name: arbiter, replicas: 1}\n"), "", "",
			nil, "the platform is not supported with arbiter nodes",
		},
		"fencing without the preview": {on("platform: {none: {}}\n"), "replicas: 3", fenced, nil, "protected by the DualReplica feature gate"},
		"fencing on vsphere": {
			on(vSphere + "featureSet: TechPreviewNoUpgrade\n"), "replicas: 3", fenced,
			nil, "fencing is only supported on",
		},
		"a gate without its set": {
			highlyAvailable, "sshKey:", "featureGates: [A=true]\nsshKey:",
			nil, "featureGates can only be used with the CustomNoUpgrade feature set",
		},
		"a gate that is no choice": {
			highlyAvailable, "sshKey:", "featureSet: CustomNoUpgrade\nfeatureGates: [A]\nsshKey:",
			nil, "featureGates[0]: Invalid value",
		},
		"no capability of the platform": {
			highlyAvailable, "sshKey:", "capabilities: {baselineCapabilitySet: None, additionalEnabledCapabilities: [Ingress]}\nsshKey:",
			nil, "platform baremetal requires the baremetal capability",
		},
		"no ingress": {
			highlyAvailable, "sshKey:",
			"capabilities: {baselineCapabilitySet: None, additionalEnabledCapabilities: [baremetal, MachineAPI]}\nsshKey:",
			nil, "the Ingress capability is required",
		},
		"an unknown capability": {
			highlyAvailable, "sshKey:", "capabilities: {additionalEnabledCapabilities: [cake]}\nsshKey:",
			nil, "capabilities.additionalEnabledCapabilities[0]: Unsupported value: \"cake\"",
		},
		"internal on none":          {on("platform: {none: {}}\npublish: Internal\n"), "", "", nil, "publish: Invalid value"},
		"a topology without a path": {on(vSphere), "/d/datastore/s", "s", nil, "topology.datastore: Invalid value: \"s\""},
		"no VIP on nutanix":         {on(nutanix), "apiVIPs: [192.168.10.5]", "", nil, "must specify at least one VIP for the API"},
		"IPv6 first on none": {
			on("platform: {none: {}}\n"), "machineNetwork: [{cidr: 192.168.10.0/24}]\n  serviceNetwork: [172.30.0.0/16]",
			"machineNetwork: [{cidr: 'fd00::/64'}, {cidr: 192.168.10.0/24}]\n  serviceNetwork: ['fd02::/112', 172.30.0.0/16]", nil,
			"IPv4 addresses must be listed before IPv6 addresses",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, c.config, c.old)
			code, out := runWith(c.env, prepare(t, strings.Replace(c.config, c.old, c.new, 1)), "create", "manifests")
			if c.want == "" {
				require.Zero(t, code, out)
				return
			}
			require.Equal(t, 3, code, out)
			require.Contains(t, out, `invalid \"install-config.yaml\" file: `)
			require.Contains(t, strings.ReplaceAll(out, `\"`, `"`), c.want)
		})
	}
}

func TestUnknownFieldsAreDroppedWithAWarning(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, env, want string }{
		"of any version": {highlyAvailable + "cake: true\n", "", `unknown field \"cake\"`},
		"of a later version": {
			highlyAvailable + "arbiter: {name: arbiter, replicas: 1}\n",
			"STANDIN_VERSION=4.18.1", `unknown field \"arbiter\"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := prepare(t, c.config)
			code, out := runWith([]string{c.env}, dir, "create", "manifests")
			require.Zero(t, code, out)
			require.Contains(t, out, "level=warning")
			require.Contains(t, out, c.want)
			require.NoFileExists(t, filepath.Join(dir, "openshift/99_openshift-cluster-api_arbiter-user-data-secret.yaml"))
		})
	}
}

func TestReleaseImageIsRequired(t *testing.T) {
	t.Parallel()
	for _, image := range []string{"", "release", "quay.io/a/b:1:2"} {
		code, out := runWith([]string{"OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE=" + image}, prepare(t, highlyAvailable), "create", "manifests")
		require.Equal(t, 1, code, out)
		require.Contains(t, out, "release image")
	}
}

func TestMachinesByPlatformAndVersion(t *testing.T) {
	t.Parallel()
	const (
		machine   = "99_openshift-cluster-api_master-machines-2.yaml"
		workers   = "99_openshift-cluster-api_worker-machineset-0.yaml"
		set       = "99_openshift-machine-api_master-control-plane-machine-set.yaml"
		host      = "99_openshift-cluster-api_hosts-3.yaml"
		secret    = "99_openshift-cluster-api_host-bmc-secrets-3.yaml"
		provision = "99_baremetal-provisioning-config.yaml"
		userData  = "99_openshift-cluster-api_worker-user-data-secret.yaml"
	)
	all := []string{machine, workers, set, host, secret, provision, userData}
	for name, c := range map[string]struct {
		config, version string
		want            []string
	}{
		"baremetal": {highlyAvailable, "4.20.1", []string{machine, workers, host, provision, userData}},
		"baremetal with a BMC": {
			strings.Replace(highlyAvailable, "{name: c,", `{name: c, bmc: {address: "redfish://192.0.2.1/1"},`, 1), "4.20.1",
			[]string{machine, workers, host, secret, provision, userData},
		},
		"vsphere":         {on(vSphere), "4.20.1", []string{machine, workers, set, userData}},
		"vsphere of 4.14": {on(vSphere), "4.14.1", []string{machine, workers, userData}},
		"nutanix of 4.14": {on(nutanix), "4.14.1", []string{machine, workers, set, userData}},
		"none":            {on("platform: {none: {}}\n"), "4.20.1", []string{userData}},
		"external":        {on("platform: {external: {platformName: oci}}\n"), "4.20.1", []string{userData}},
		"no capability": {
			on(vSphere + "capabilities: {baselineCapabilitySet: None, " +
				"additionalEnabledCapabilities: [Ingress, CloudCredential, CloudControllerManager]}\n"),
			"4.20.1",
			[]string{userData},
		},
		"machine API alone": {
			on(vSphere + "capabilities: {baselineCapabilitySet: None, " +
				"additionalEnabledCapabilities: [Ingress, CloudCredential, CloudControllerManager, MachineAPI]}\n"),
			"4.20.1",
			[]string{machine, workers, set, userData},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := prepare(t, c.config)
			code, out := runWith([]string{"STANDIN_VERSION=" + c.version}, dir, "create", "manifests")
			require.Zero(t, code, out)
			var found []string
			for _, file := range all {
				if _, err := os.Stat(filepath.Join(dir, "openshift", file)); err == nil {
					found = append(found, file)
				}
			}
			require.Equal(t, c.want, found)
		})
	}
}

func TestHostsOfArbitersHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	dir := prepare(t, withArbiter())
	code, out := run(dir, "create", "manifests")
	require.Zero(t, code, out)
	data, err := os.ReadFile(filepath.Join(dir, "openshift/99_openshift-cluster-api_arbiter_hosts-0.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(data), "52:54:00:00:00:04")
	require.Contains(t, string(data), "baremetalhost.metal3.io/paused")
	require.FileExists(t, filepath.Join(dir, "openshift/99_openshift-cluster-api_arbiter-machines-0.yaml"))
}

func TestManifestsThatAreRefused(t *testing.T) {
	t.Parallel()
	dir := prepare(t, highlyAvailable)
	code, out := run(dir, "create", "manifests")
	require.Zero(t, code, out)
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "openshift", name), []byte(text), 0o600))
	}
	put("notes.txt", "not a manifest")
	put("again.yaml", "apiVersion: config.openshift.io/v1\nkind: Proxy\nmetadata: {name: cluster}\n")
	code, out = run(dir, "create", "ignition-configs")
	require.Equal(t, 1, code)
	require.Contains(t, out, "multiple manifests for group config.openshift.io kind Proxy namespace  name cluster: "+
		"manifests/cluster-proxy-01-config.yaml, openshift/again.yaml")
	put("again.yaml", "a: b: c")
	code, out = run(dir, "create", "ignition-configs")
	require.Equal(t, 1, code)
	require.Contains(t, out, `could not unmarshal \"openshift/again.yaml\"`)
	require.NoError(t, os.Remove(filepath.Join(dir, "openshift", "again.yaml")))
	code, out = run(dir, "create", "ignition-configs")
	require.Zero(t, code, out)
	require.FileExists(t, filepath.Join(dir, "openshift", "notes.txt"), "what is no manifest stays, and the folder with it")
	require.NoDirExists(t, filepath.Join(dir, "manifests"))
}

func TestAnInstallConfigThatCameLaterDiscardsTheManifests(t *testing.T) {
	t.Parallel()
	dir := prepare(t, highlyAvailable)
	code, out := run(dir, "create", "manifests")
	require.Zero(t, code, out)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "openshift", "mine.yaml"), []byte("kind: A\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "install-config.yaml"), []byte(highlyAvailable), 0o600))
	code, out = run(dir, "create", "ignition-configs")
	require.Zero(t, code, out)
	require.Contains(t, out, "Discarding the openshift")
	bootstrap, err := os.ReadFile(filepath.Join(dir, "bootstrap.ign"))
	require.NoError(t, err)
	require.NotContains(t, string(bootstrap), "mine.yaml")
}
