package release_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
)

// agentInstaller stands in for the agent-based installer: its config holds all it was
// given, and what it was called with.
func agentInstaller(args []string) int {
	dir := args[slices.Index(args, "--dir")+1]
	files := []map[string]any{}
	add := func(path string, data []byte) {
		files = append(
			files,
			map[string]any{"path": path, "contents": map[string]any{"source": "data:;base64," + base64.StdEncoding.EncodeToString(data)}},
		)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		add(strings.TrimPrefix(path, dir), data)
		return err
	})
	add(
		"/called",
		[]byte(strings.Join(args[:slices.Index(args, "--dir")], " ")+" of "+os.Getenv("OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE")),
	)
	config, merr := json.Marshal(map[string]any{"ignition": map[string]any{"version": "3.2.0"}, "storage": map[string]any{"files": files}})
	if err := errors.Join(err, merr, os.WriteFile(filepath.Join(dir, "unconfigured-agent.ign"), config, 0o600)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func serveAgentInstaller(t *testing.T) *payload.Payload {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return serve(t, payload.Options{}, self, "agent-installer")
}

func disconnectedEnv() *model.InfraEnv {
	return &model.InfraEnv{
		ID: uuid.MustParse(
			"273f0101-ab20-42d6-93e2-d7a94f89c15c",
		), Name: "far", CPUArchitecture: "arm64", PullSecret: pullSecret, SSHAuthorizedKey: "ssh-ed25519 AAAA",
	}
}

func TestConfigOfADisconnectedImageIsMadeByTheInstallerOfItsRelease(t *testing.T) {
	t.Parallel()
	p := serveAgentInstaller(t)
	r, dir := open(t, p, nil)
	c := &model.Cluster{Name: "one", ReleaseImage: p.ReleaseImage("4.20.33")}
	e := disconnectedEnv()
	config, err := r.Unconfigured(t.Context(), c, e)
	require.NoError(t, err)
	d, err := document.Parse(config)
	require.NoError(t, err)
	require.Len(t, d.Files(), 4, "no file of what was not set")
	require.Equal(t, "agent create unconfigured-ignition of "+pinned(t, p), bootstrapFile(t, config, "/called"))
	require.Contains(
		t,
		bootstrapFile(t, config, "/mirror/registries.conf"),
		"registry.appliance.openshift.com:5000/openshift/release-images",
	)
	require.YAMLEq(t, `{apiVersion: agent-install.openshift.io/v1beta1, kind: InfraEnv, metadata: {name: far},
		spec: {pullSecretRef: {name: pull-secret}, sshAuthorizedKey: ssh-ed25519 AAAA, cpuArchitecture: aarch64}}`,
		bootstrapFile(t, config, "/cluster-manifests/infraenv.yaml"))
	var secret struct {
		Type       string
		StringData map[string]string
	}
	require.NoError(t, yaml.Unmarshal([]byte(bootstrapFile(t, config, "/cluster-manifests/pull-secret.yaml")), &secret))
	require.Equal(t, "kubernetes.io/dockerconfigjson", secret.Type)
	require.Equal(t, map[string]string{".dockerconfigjson": pullSecret.Reveal()}, secret.StringData)

	e.RendezvousIP, e.NTPSources = "192.0.2.7", []string{"192.0.2.1"}
	e.Proxy = model.Proxy{HTTP: "http://p:3128", NoProxy: "a.example,\nb.example"}
	e.StaticNetworkConfig = `[{"network_yaml":"interfaces: [{name: eth0}]","mac_interface_map":[{"mac_address":"52:54:00:00:00:01","logical_nic_name":"eth0"}]},{"network_yaml":"{}"}]`
	config, err = r.Unconfigured(t.Context(), c, e)
	require.NoError(t, err)
	require.YAMLEq(
		t,
		`{apiVersion: v1beta1, kind: AgentConfig, metadata: {name: one}, rendezvousIP: 192.0.2.7}`,
		bootstrapFile(t, config, "/agent-config.yaml"),
	)
	var env struct{ Spec map[string]any }
	require.NoError(t, yaml.Unmarshal([]byte(bootstrapFile(t, config, "/cluster-manifests/infraenv.yaml")), &env))
	require.Equal(t, map[string]any{"httpProxy": "http://p:3128", "httpsProxy": "", "noProxy": "a.example,b.example"}, env.Spec["proxy"])
	require.Equal(t, []any{"192.0.2.1"}, env.Spec["additionalNTPSources"])
	first, second, found := strings.Cut(bootstrapFile(t, config, "/cluster-manifests/nmstateconfig.yaml"), "---\n")
	require.True(t, found)
	require.YAMLEq(t, `{apiVersion: agent-install.openshift.io/v1beta1, kind: NMStateConfig,
		metadata: {name: nmstate-config-0, labels: {agent-install.openshift.io/infraenv-id: 273f0101-ab20-42d6-93e2-d7a94f89c15c}},
		spec: {interfaces: [{name: eth0, macAddress: "52:54:00:00:00:01"}], config: {interfaces: [{name: eth0}]}}}`, first)
	require.Contains(t, second, "nmstate-config-1")
	left, err := os.ReadDir(filepath.Join(dir, "work"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestConfigOfADisconnectedImageThatFailsTellsWhatTheInstallerSaid(t *testing.T) {
	t.Parallel()
	p := serve(
		t,
		payload.Options{},
		"/bin/sh",
		"-c",
		`echo "no such command, pull secret `+strings.ReplaceAll(pullSecret.Reveal(), `"`, `\"`)+`"; exit 3`,
		"sh",
	)
	r, _ := open(t, p, nil)
	_, err := r.Unconfigured(t.Context(), &model.Cluster{ReleaseImage: p.ReleaseImage("4.20.33")}, disconnectedEnv())
	var failure *release.GenerateError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, 3, failure.ExitCode)
	require.ErrorContains(
		t,
		err,
		"openshift-install agent create unconfigured-ignition: exit status 3: no such command, pull secret [redacted]",
	)
	_, err = r.Unconfigured(t.Context(), &model.Cluster{ReleaseImage: p.Address() + "/none:1"}, disconnectedEnv())
	require.ErrorIs(t, err, model.ErrNotFound)
}
