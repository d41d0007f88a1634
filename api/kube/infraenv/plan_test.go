package infraenv_test

import (
	"errors"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/infraenv"
	"slipway/internal/wire"
)

var now = time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)

func resource() *agentinstall.InfraEnv {
	return &agentinstall.InfraEnv{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "env"},
		Spec:       agentinstall.InfraEnvSpec{PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}},
	}
}

func config(name, mac string) agentinstall.NMStateConfig {
	return agentinstall.NMStateConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: name},
		Spec: agentinstall.NMStateConfigSpec{
			Interfaces: []agentinstall.Interface{{Name: "eth0", MacAddress: mac}},
			NetConfig:  runtime.RawExtension{Raw: []byte(`{"interfaces":[{"name":"eth0"}]}`)},
		},
	}
}

// Each field of the spec acts: with it the request differs from the request without it.
func TestEachFieldOfTheSpecIsSent(t *testing.T) {
	t.Parallel()
	plain, err := infraenv.Create(infraenv.Inputs{Resource: resource(), PullSecret: "{}"})
	require.NoError(t, err)
	require.Equal(t, "env", plain.Name)
	for name, c := range map[string]struct {
		set  func(*agentinstall.InfraEnvSpec)
		want func(*wire.InfraEnvCreateParams)
	}{
		"proxy": {
			func(s *agentinstall.InfraEnvSpec) {
				s.Proxy = &agentinstall.Proxy{HTTPProxy: "a", HTTPSProxy: "b", NoProxy: "c"}
			},
			func(p *wire.InfraEnvCreateParams) {
				p.Proxy = &wire.Proxy{HTTPProxy: "a", HTTPSProxy: "b", NoProxy: "c"}
			},
		},
		"additionalNTPSources": {
			func(s *agentinstall.InfraEnvSpec) { s.AdditionalNTPSources = []string{"a", "b"} },
			func(p *wire.InfraEnvCreateParams) { p.AdditionalNtpSources = new("a,b") },
		},
		"ntpSources": {
			func(s *agentinstall.InfraEnvSpec) { s.NTPSources = []string{"a"} },
			func(p *wire.InfraEnvCreateParams) { p.NtpSources = new("a") },
		},
		"sshAuthorizedKey": {
			func(s *agentinstall.InfraEnvSpec) { s.SSHAuthorizedKey = "ssh-ed25519 A" },
			func(p *wire.InfraEnvCreateParams) { p.SSHAuthorizedKey = new("ssh-ed25519 A") },
		},
		"kernelArguments": {
			func(s *agentinstall.InfraEnvSpec) {
				s.KernelArguments = []agentinstall.KernelArgument{{Operation: "delete", Value: "a"}, {Value: "b=c"}}
			},
			func(p *wire.InfraEnvCreateParams) {
				p.KernelArguments = &wire.KernelArguments{{Operation: "delete", Value: "a"}, {Operation: "append", Value: "b=c"}}
			},
		},
		"ignitionConfigOverride": {
			func(s *agentinstall.InfraEnvSpec) { s.IgnitionConfigOverride = "{}" },
			func(p *wire.InfraEnvCreateParams) { p.IgnitionConfigOverride = new("{}") },
		},
		"cpuArchitecture": {
			func(s *agentinstall.InfraEnvSpec) { s.CpuArchitecture = "arm64" },
			func(p *wire.InfraEnvCreateParams) {
				p.CPUArchitecture = new(wire.InfraEnvCreateParamsCPUArchitecture("arm64"))
			},
		},
		"osImageVersion": {
			func(s *agentinstall.InfraEnvSpec) { s.OSImageVersion = "4.20" },
			func(p *wire.InfraEnvCreateParams) { p.OpenshiftVersion = new("4.20") },
		},
		"additionalTrustBundle": {
			func(s *agentinstall.InfraEnvSpec) { s.AdditionalTrustBundle = "PEM" },
			func(p *wire.InfraEnvCreateParams) { p.AdditionalTrustBundle = new("PEM") },
		},
		"imageType": {
			func(s *agentinstall.InfraEnvSpec) { s.ImageType = "minimal-iso" },
			func(p *wire.InfraEnvCreateParams) { p.ImageType = new(wire.ImageType("minimal-iso")) },
		},
		"networkDiscoveryDelaySeconds": {
			func(s *agentinstall.InfraEnvSpec) { s.NetworkDiscoveryDelaySeconds = new(int64(30)) },
			func(p *wire.InfraEnvCreateParams) { p.NetworkDiscoveryDelaySeconds = new(int64(30)) },
		},
	} {
		r := resource()
		c.set(&r.Spec)
		found, err := infraenv.Create(infraenv.Inputs{Resource: r, PullSecret: "{}"})
		require.NoError(t, err, name)
		want := plain
		c.want(&want)
		require.Equal(t, want, found, name)
		require.NotEqual(t, plain, found, name)
	}
}

func TestNetworksAreSentByTheNamesOfTheirResources(t *testing.T) {
	t.Parallel()
	w := infraenv.Inputs{Resource: resource(), Networks: []agentinstall.NMStateConfig{
		config("b", "02:00:00:00:00:0b"), config("a", "02:00:00:00:00:0a"),
	}, ClusterID: uuid.New()}
	found, err := infraenv.Create(w)
	require.NoError(t, err)
	require.Equal(t, w.ClusterID, *found.ClusterID)
	require.Len(t, *found.StaticNetworkConfig, 2)
	require.Equal(t, wire.HostStaticNetworkConfig{
		MacInterfaceMap: wire.MacInterfaceMap{{LogicalNicName: "eth0", MacAddress: "02:00:00:00:00:0a"}},
		NetworkYaml:     `{"interfaces":[{"name":"eth0"}]}`,
	}, (*found.StaticNetworkConfig)[0])

	w.Networks[1] = config("a", "02:00:00:00:00:0B")
	_, err = infraenv.Create(w)
	require.EqualError(t, err, "NMStateConfigs a and b have the same MAC address 02:00:00:00:00:0b")
	w.Networks = []agentinstall.NMStateConfig{{ObjectMeta: metav1.ObjectMeta{Name: "empty"}}}
	_, err = infraenv.Update(w)
	require.EqualError(t, err, "NMStateConfig empty: require spec.config, found none")
}

func TestSettingsThatDoNotActAreRefused(t *testing.T) {
	t.Parallel()
	r := resource()
	r.Spec.OSImageVersion, r.Spec.ClusterRef = "4.20", &agentinstall.ClusterReference{Name: "a", Namespace: "b"}
	_, err := infraenv.Update(infraenv.Inputs{Resource: r})
	require.ErrorContains(t, err, "cannot be set together")
}

// address makes the address of an image with a token that is good for a while.
func address(t *testing.T, good time.Duration) string {
	t.Helper()
	text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{ExpiresAt: jwt.NewNumericDate(now.Add(good))}).
		SignedString([]byte("a"))
	require.NoError(t, err)
	return "https://a.example.com/byapikey/" + text + "/4.20/x86_64/full.iso"
}

func TestAddressesStayForHalfTheirTime(t *testing.T) {
	t.Parallel()
	env := &wire.InfraEnv{
		UpdatedAt: wire.DateTime(now.Add(-time.Hour).Add(123456)), ExpiresAt: wire.DateTime(now.Add(4 * time.Hour)),
		DownloadURL: address(t, 4*time.Hour),
	}
	r := resource()
	in := infraenv.Inputs{Resource: r}
	boot := wire.BootArtifacts{
		IpxeScriptURL: "https://a/?a", IpxeDiskScriptURL: "https://a/?ipxe_script_type=boot-order-control", StaticNetworkURL: "https://a/network",
	}
	current, _ := infraenv.Current(in, env, now)
	require.False(t, current, "it has none")
	r.Status = infraenv.Ready(in, env, boot, false,
		metav1.NewTime(now))
	require.Equal(t, boot.IpxeScriptURL, r.Status.BootArtifacts.IpxeScriptURL)
	current, wait := infraenv.Current(in, env, now)
	require.True(t, current)
	require.Equal(t, 2*time.Hour, wait)
	r.Status.ISODownloadURL = address(t, 121*time.Minute)
	current, wait = infraenv.Current(in, env, now)
	require.True(t, current)
	require.Equal(t, time.Minute, wait)
	r.Status.ISODownloadURL = address(t, 119*time.Minute)
	current, _ = infraenv.Current(in, env, now)
	require.False(t, current)

	// Addresses of a service that asks for no credential do not end.
	open := *env
	open.ExpiresAt, open.DownloadURL = wire.DateTime{}, "https://a.example.com/byid/1/4.20/x86_64/full.iso"
	current, _ = infraenv.Current(in, &open, now)
	require.False(t, current, "the service had tokens before")
	r.Status.ISODownloadURL = open.DownloadURL
	current, wait = infraenv.Current(in, &open, now)
	require.True(t, current)
	require.Zero(t, wait)
	open.UpdatedAt = wire.DateTime(now)
	current, _ = infraenv.Current(in, &open, now)
	require.False(t, current, "another image")

	r.Spec.IPXEScriptType = agentinstall.BootOrderControl
	status := infraenv.Ready(in, env, boot, false,
		metav1.NewTime(now))
	require.Equal(t, boot.IpxeDiskScriptURL, status.BootArtifacts.IpxeScriptURL)
}

// Two changes within a second have one time in the status.
func TestAddressesFollowChangesWithinASecond(t *testing.T) {
	t.Parallel()
	env := &wire.InfraEnv{UpdatedAt: wire.DateTime(now), DownloadURL: "https://a.example.com/byid/1/4.20/x86_64/full.iso"}
	boot := wire.BootArtifacts{IpxeScriptURL: "a", IpxeDiskScriptURL: "a?boot-order-control", StaticNetworkURL: "b"}
	in := infraenv.Inputs{Resource: resource()}
	in.Resource.Status = infraenv.Ready(in, env, boot, false, metav1.NewTime(now))
	follows := func() {
		t.Helper()
		current, _ := infraenv.Current(in, env, now)
		require.False(t, current)
		in.Resource.Status = infraenv.Ready(in, env, boot, false, metav1.NewTime(now))
		current, _ = infraenv.Current(in, env, now)
		require.True(t, current)
	}
	in.Networks = []agentinstall.NMStateConfig{config("a", "02:00:00:00:00:0a")}
	follows()
	require.Equal(t, "b", in.Resource.Status.InfraEnvDebugInfo.StaticNetworkDownloadURL)
	in.Networks = nil
	follows()
	require.Empty(t, in.Resource.Status.InfraEnvDebugInfo.StaticNetworkDownloadURL)
	in.Resource.Spec.IPXEScriptType = agentinstall.BootOrderControl
	follows()
	env.DownloadURL = "https://a.example.com/byid/1/4.20/x86_64/minimal.iso"
	follows()
}

func TestConditionsChangeWhenTheyDiffer(t *testing.T) {
	t.Parallel()
	r := resource()
	env := &wire.InfraEnv{UpdatedAt: wire.DateTime(now), DownloadURL: "https://a.example.com/a"}
	r.Status = infraenv.Ready(infraenv.Inputs{Resource: r}, env, wire.BootArtifacts{}, false, metav1.NewTime(now))
	require.Equal(t, []agentinstall.Condition{{
		Type: "ImageCreated", Status: "True", Reason: "ImageCreated", Message: "Image has been created",
		LastHeartbeatTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(now),
	}}, r.Status.Conditions)
	later := metav1.NewTime(now.Add(time.Hour))
	require.Equal(t, r.Status, infraenv.Ready(infraenv.Inputs{Resource: r}, env, wire.BootArtifacts{}, true, later), "nothing is written")

	failed := infraenv.Failed(r, errors.New("bad"), true, later)
	require.Equal(t, []agentinstall.Condition{{
		Type: "ImageCreated", Status: "False", Reason: "ImageCreationError", Message: "Failed to create image: bad",
		LastHeartbeatTime: later, LastTransitionTime: later,
	}}, failed.Conditions)
	require.Empty(t, failed.ISODownloadURL)
	away := infraenv.Failed(r, errors.New("no answer"), false, later)
	require.Equal(t, "Failed to create image due to an internal error: no answer", away.Conditions[0].Message)
	require.Equal(t, r.Status.ISODownloadURL, away.ISODownloadURL, "the image is as good as it was")
}
