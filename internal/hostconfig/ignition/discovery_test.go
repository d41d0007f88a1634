package ignition_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/ignition/v2/config/v3_1"
	"github.com/coreos/ignition/v2/config/v3_1/types"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/vincent-petithory/dataurl"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/model"
)

const ca = "-----BEGIN CERTIFICATE-----\nMIIBeDCCAR+gAwIBAgIUFv7Nf0iUrLAUxZeJ+mPIZz4n3RYwCgYIKoZIzj0EAwIw\n-----END CERTIFICATE-----\n"

var agentHash = strings.Repeat("0123456789abcdef", 4)

func minimal() ignition.DiscoveryInput {
	return ignition.DiscoveryInput{
		InfraEnv: &model.InfraEnv{
			ID:         uuid.MustParse("273f0101-ab20-42d6-93e2-d7a94f89c15c"),
			PullSecret: `{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}`,
		},
		ServiceURL: "http://192.0.2.1:8090",
		Agent:      ignition.Agent{URL: "http://192.0.2.1:8090/agent/slipway-agent-amd64", SHA256: agentHash, Version: "slipway-agent:1"},
	}
}

func full() ignition.DiscoveryInput {
	in := minimal()
	in.ServiceURL = "https://slipway.example.com"
	in.ServiceCA = ca
	in.Insecure = true
	in.AgentToken = `to"ken$1\%`
	in.Agent.Key = "AbC/+="
	in.Deployment.Mirror = ignition.Mirror{RegistriesConf: "[[registry]]\n", CA: ca}
	e := in.InfraEnv
	e.SSHAuthorizedKey = "ssh-ed25519 AAAA one\n\n# comment\nssh-ed25519 BBBB: \"two\"\n"
	e.Proxy = model.Proxy{HTTP: "http://proxy:3128", HTTPS: "http://user:p'w@proxy:3128", NoProxy: ".example.com,10.0.0.0/8,.example.com"}
	e.NTPSources = []string{"0.pool.ntp.org", "10.0.0.1"}
	e.AdditionalTrustBundle = ca
	return in
}

// discover builds and reads a config of version 3.1.0.
func discover(t *testing.T, in ignition.DiscoveryInput) types.Config {
	t.Helper()
	data, err := ignition.Discovery(in)
	require.NoError(t, err)
	config, report, err := v3_1.Parse(data)
	require.NoError(t, err, report.String())
	for _, e := range report.Entries {
		require.Equal(t, "$.ignition.proxy.httpsProxy", e.Context.String(), "a proxy by http is the user's choice")
	}
	return config
}

func files(c types.Config) []string {
	paths := make([]string, 0, len(c.Storage.Files))
	for _, f := range c.Storage.Files {
		paths = append(paths, f.Path)
	}
	slices.Sort(paths)
	return paths
}

func content(t *testing.T, c types.Config, path string) string {
	t.Helper()
	for _, f := range c.Storage.Files {
		if f.Path == path {
			u, err := dataurl.DecodeString(*f.Contents.Source)
			require.NoError(t, err)
			return string(u.Data)
		}
	}
	t.Fatalf("no file %s", path)
	return ""
}

func unit(t *testing.T, c types.Config, name string) types.Unit {
	t.Helper()
	for _, u := range c.Systemd.Units {
		if u.Name == name {
			return u
		}
	}
	t.Fatalf("no unit %s", name)
	return types.Unit{}
}

func TestDiscoveryOfAPlainEnvironment(t *testing.T) {
	t.Parallel()
	c := discover(t, minimal())
	require.Equal(t, []string{
		"/etc/NetworkManager/conf.d/01-ipv6.conf", "/etc/motd", "/etc/multipath.conf", "/etc/slipway/agent.cil",
		"/etc/slipway/agent.env", "/root/.docker/config.json", "/usr/local/bin/oci-eval-user-data.sh", "/usr/local/bin/slipway-agent-fetch",
	}, files(c))
	require.Empty(t, c.Passwd.Users)
	require.Equal(t, types.Proxy{}, c.Ignition.Proxy)
	require.Empty(t, c.Ignition.Security.TLS.CertificateAuthorities)
	for _, name := range []string{
		"agent.service", "selinux.service", "multipathd.service", "iscsistart.service", "oci-eval-user-data.service",
	} {
		require.True(t, *unit(t, c, name).Enabled, name)
	}
	require.Len(t, c.Systemd.Units, 5)
	require.JSONEq(t, `{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}`, content(t, c, "/root/.docker/config.json"))
	require.Equal(t, "PULL_SECRET_TOKEN=\"\"\n", content(t, c, "/etc/slipway/agent.env"))
	require.Contains(
		t,
		*unit(t, c, "agent.service").Contents,
		`ExecStart=/usr/local/bin/slipway-agent "--url" "http://192.0.2.1:8090" "--infra-env-id" "273f0101-ab20-42d6-93e2-d7a94f89c15c" "--agent-version" "slipway-agent:1"`+"\n",
	)
	require.Contains(t, content(t, c, "/etc/motd"), "273f0101-ab20-42d6-93e2-d7a94f89c15c")
}

func TestDiscoveryKeepsSecretsFromOthers(t *testing.T) {
	t.Parallel()
	for _, f := range discover(t, minimal()).Storage.Files {
		require.False(
			t,
			f.Contents.Source == nil || !strings.HasPrefix(*f.Contents.Source, "data:"),
			"%s: an initramfs may have no network",
			f.Path,
		)
		if f.Path == "/etc/slipway/agent.env" || f.Path == "/root/.docker/config.json" {
			require.Equal(t, 0o600, *f.Mode, f.Path)
		}
	}
}

func TestDiscoveryOfAFullEnvironment(t *testing.T) {
	t.Parallel()
	c := discover(t, full())
	for _, path := range []string{
		"/etc/assisted-service/service-ca-cert.crt", "/etc/pki/ca-trust/source/anchors/assisted-infraenv-additional-trust-bundle.pem",
		"/etc/pki/ca-trust/source/anchors/domain.crt",
	} {
		require.Equal(t, ca, content(t, c, path))
	}
	require.Equal(t, "[[registry]]\n", content(t, c, "/etc/containers/registries.conf"))
	require.Len(t, c.Ignition.Security.TLS.CertificateAuthorities, 1)
	require.Equal(t, "http://proxy:3128", *c.Ignition.Proxy.HTTPProxy)
	require.Equal(t, []types.NoProxyItem{".example.com", "10.0.0.0/8"}, c.Ignition.Proxy.NoProxy)
	require.Contains(t, content(t, c, "/etc/profile.d/proxy.sh"), `export https_proxy='http://user:p'\''w@proxy:3128'`+"\n")
	require.Equal(t, []types.SSHAuthorizedKey{"ssh-ed25519 AAAA one", `ssh-ed25519 BBBB: "two"`}, c.Passwd.Users[0].SSHAuthorizedKeys)
	require.Equal(t, "!", *c.Passwd.Users[0].PasswordHash)
	require.Contains(t, content(t, c, "/usr/local/bin/add-ntp-sources.sh"), "\n  echo 'server 10.0.0.1 iburst'\n")
	require.Contains(t, *unit(t, c, "add-ntp-sources.service").Contents, "Before=chronyd.service ", "which reads its sources once")
	require.True(t, *unit(t, c, "add-ntp-sources.service").Enabled)
	require.Contains(t, *unit(t, c, "agent.service").Contents, ` "--cacert" "/etc/assisted-service/service-ca-cert.crt" "--insecure"`)
	env := content(t, c, "/etc/slipway/agent.env")
	require.Contains(t, env, `SLIPWAY_PROGRAM_KEY="AbC/+="`+"\n")
	require.Contains(t, env, `PULL_SECRET_TOKEN="to\"ken\$1\\%"`+"\n")
	require.Contains(t, env, `NO_PROXY=".example.com,10.0.0.0/8"`+"\n"+`no_proxy=`)
}

// Older versions stored lists, keys and certificates as they were sent.
func TestDiscoveryOfAnOlderInfraEnvHasNoLineBreaksInItsValues(t *testing.T) {
	t.Parallel()
	in := minimal()
	in.InfraEnv.Proxy = model.Proxy{HTTP: "http://proxy:3128", NoProxy: "a.example.com,\r\n\tb.example.com\n"}
	in.InfraEnv.SSHAuthorizedKey = "ssh-ed25519 AAAA one\rssh-ed25519 BBBB two\r\n"
	in.InfraEnv.AdditionalTrustBundle = strings.ReplaceAll(ca, "\n", "\r\n")
	c := discover(t, in)
	require.Equal(t, []types.NoProxyItem{"a.example.com", "b.example.com"}, c.Ignition.Proxy.NoProxy)
	require.Contains(t, content(t, c, "/etc/profile.d/proxy.sh"), "export no_proxy='a.example.com,b.example.com'\n")
	require.Contains(t, content(t, c, "/etc/slipway/agent.env"), `no_proxy="a.example.com,b.example.com"`+"\n")
	require.Equal(t, []types.SSHAuthorizedKey{"ssh-ed25519 AAAA one", "ssh-ed25519 BBBB two"}, c.Passwd.Users[0].SSHAuthorizedKeys)
	require.Equal(t, ca, content(t, c, "/etc/pki/ca-trust/source/anchors/assisted-infraenv-additional-trust-bundle.pem"))
}

func TestDiscoveryOfADeploymentWithItsOwnTrust(t *testing.T) {
	t.Parallel()
	in := minimal()
	in.Deployment.RootCA, in.Deployment.InsecurePolicy = ca, true
	c := discover(t, in)
	require.Equal(t, ca, content(t, c, "/etc/pki/ca-trust/source/anchors/rh-it-root-ca.crt"))
	var policy struct{ Default []struct{ Type string } }
	require.NoError(t, json.Unmarshal([]byte(content(t, c, "/etc/containers/policy.json")), &policy))
	require.Equal(t, "insecureAcceptAnything", policy.Default[0].Type)
}

func TestDiscoveryTrustsTheMirrorWhereRegistriesAreNot(t *testing.T) {
	t.Parallel()
	in := minimal()
	in.Deployment.Mirror.CA = ca // of the registry of the release images, say
	c := discover(t, in)
	require.Equal(t, ca, content(t, c, "/etc/pki/ca-trust/source/anchors/domain.crt"))
	require.NotContains(t, files(c), "/etc/containers/registries.conf")
}

func TestDiscoveryOfOKDLaysProgramsOverTheSystem(t *testing.T) {
	t.Parallel()
	in := minimal()
	in.Deployment.OKDPackages = "quay.io/okd/rpms:4.20'"
	c := discover(t, in)
	require.Contains(t, content(t, c, "/usr/local/bin/okd-overlay"), `image='quay.io/okd/rpms:4.20'\''`+"'\n")
	require.True(t, *unit(t, c, "okd-overlay.service").Enabled)
	require.True(t, *unit(t, c, "systemd-journal-gatewayd.socket").Enabled)
	for _, u := range c.Systemd.Units {
		require.NotContains(t, []string{"multipathd.service", "iscsistart.service", "oci-eval-user-data.service"}, u.Name)
	}
}

func TestDiscoveryMergesOverrides(t *testing.T) {
	t.Parallel()
	in := minimal()
	in.InternalOverride = `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/motd","overwrite":true,"contents":{"source":"data:,internal"}},{"path":"/ironic"}]}}`
	in.InfraEnv.IgnitionConfigOverride = `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/motd","overwrite":true,"contents":{"source":"data:,user"}}]}}`
	c := discover(t, in)
	require.Equal(t, "user", content(t, c, "/etc/motd"))
	require.Contains(t, files(c), "/ironic")
	require.False(t, *unit(t, c, "agent.service").Enabled, "another agent is started")

	in.InfraEnv.IgnitionConfigOverride = `{"ignition":{"version":"3.2.0"}}`
	data, err := ignition.Discovery(in)
	require.NoError(t, err)
	var version struct{ Ignition struct{ Version string } }
	require.NoError(t, json.Unmarshal(data, &version))
	require.Equal(t, "3.2.0", version.Ignition.Version)
}

func TestDiscoveryRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*ignition.DiscoveryInput)
		want   string
	}{
		"an override with a fault": {
			func(in *ignition.DiscoveryInput) {
				in.InfraEnv.IgnitionConfigOverride = `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"x"}]}}`
			}, "ignition_config_override: invalid Ignition config: $.storage.files.0.path, line 1 col 61: path not absolute",
		},
		"an agent without a hash": {
			func(in *ignition.DiscoveryInput) { in.Agent.SHA256 = "" }, "require the sha256 of the agent",
		},
		"an agent of another scheme": {
			func(in *ignition.DiscoveryInput) { in.Agent.URL = "ftp://host/agent" }, "require an http or https address of the agent",
		},
		"no address of the service": {
			func(in *ignition.DiscoveryInput) { in.ServiceURL = "slipway" }, "require an http or https address of the service",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := minimal()
			c.change(&in)
			_, err := ignition.Discovery(in)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestDiscoveryTakesAnyText(t *testing.T) {
	t.Parallel()
	in := full()
	nasty := "a\"b'c\\d: {{.}} #e\n\t- f <>&\u2028\U0001F600%n $HOME `id`"
	in.InfraEnv.AdditionalTrustBundle = nasty
	in.InfraEnv.NTPSources = []string{"x'; reboot; '"}
	in.Agent.Version = nasty
	c := discover(t, in)
	require.Equal(t, nasty, content(t, c, "/etc/pki/ca-trust/source/anchors/assisted-infraenv-additional-trust-bundle.pem"))
	require.Contains(t, content(t, c, "/usr/local/bin/add-ntp-sources.sh"), `echo 'server x'\''; reboot; '\'' iburst'`)
	require.Contains(t, *unit(t, c, "agent.service").Contents, `\U0000000a\U00000009- f <>&\U00002028`+"\U0001F600%%n $$HOME")
}

// assisted-service's user data for Oracle's cloud (internal/ignition/templates/oci-eval-user-data.service).
func TestUserDataOfOraclesCloudKnowsTheDiscovery(t *testing.T) {
	t.Parallel()
	text := *unit(t, discover(t, minimal()), "oci-eval-user-data.service").Contents
	for _, line := range []string{"Environment=ASSISTED_INSTALLER_DISCOVERY_ENV=1", "Restart=on-failure", "RestartSec=30"} {
		require.Contains(t, text, line+"\n")
	}
}
