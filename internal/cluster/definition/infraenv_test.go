package definition_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/definition"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func ptr[T any](value T) *T { return &value }

func TestSettingsOfAnInfraEnvThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings definition.InfraEnvSettings
		want     string
	}{
		"a proxy that is no address": {definition.InfraEnvSettings{Proxy: &wire.Proxy{HTTPProxy: "proxy:3128"}}, "http_proxy"},
		"two lists of time sources": {
			definition.InfraEnvSettings{AdditionalNTPSources: ptr("192.0.2.1"), NTPSources: ptr("192.0.2.2")}, "only one of them is allowed",
		},
		"a key that is invalid":            {definition.InfraEnvSettings{SSHAuthorizedKey: ptr("ssh-rsa AAAA")}, "ssh_authorized_key"},
		"a bundle without certificates":    {definition.InfraEnvSettings{TrustBundle: ptr("hello")}, "additional_trust_bundle"},
		"a rendezvous that is no address":  {definition.InfraEnvSettings{RendezvousIP: ptr("host")}, "rendezvous_ip"},
		"an override that is no Ignition":  {definition.InfraEnvSettings{IgnitionOverride: ptr("{")}, "ignition_config_override"},
		"a delay of more than a day":       {definition.InfraEnvSettings{DiscoveryDelay: ptr(int64(86401))}, "at most 86400"},
		"a disconnected image without one": {definition.InfraEnvSettings{ImageType: ptr(wire.ImageTypeDisconnectedIso)}, "image_type"},
		"a replacement of nothing": {
			definition.InfraEnvSettings{KernelArguments: &wire.KernelArguments{{Operation: wire.Replace, Value: "a=b"}}}, "KEY=OLD=NEW",
		},
		"an argument that GRUB changes": {
			definition.InfraEnvSettings{KernelArguments: &wire.KernelArguments{{Operation: wire.Append, Value: "a='b"}}}, "found ' in",
		},
	} {
		err := c.settings.Apply(&model.InfraEnv{CPUArchitecture: "x86_64", ImageType: "full-iso"})
		refused(t, err, c.want, name)
	}
}

func TestArchitecturesWithoutAnImageAreRefused(t *testing.T) {
	t.Parallel()
	mainframe := func() *model.InfraEnv { return &model.InfraEnv{CPUArchitecture: "s390x", ImageType: "full-iso"} }
	require.NoError(t, definition.InfraEnvSettings{}.Apply(mainframe()))
	err := definition.InfraEnvSettings{ImageType: ptr(wire.ImageTypeMinimalIso)}.Apply(mainframe())
	refused(t, err, "require full-iso with cpu_architecture s390x", "minimal")
	err = definition.InfraEnvSettings{
		KernelArguments: &wire.KernelArguments{{Operation: wire.Append, Value: "a=b"}},
	}.Apply(mainframe())
	refused(t, err, "require none with cpu_architecture s390x", "arguments")
}

func TestSettingsThatAreAbsentStay(t *testing.T) {
	t.Parallel()
	e := &model.InfraEnv{CPUArchitecture: "x86_64", ImageType: "full-iso", StaticNetworkConfig: "[]", NTPSources: []string{"192.0.2.1"}}
	require.NoError(t, definition.InfraEnvSettings{DiscoveryDelay: ptr(int64(30)), NTPSources: ptr("")}.Apply(e))
	require.Equal(t, 30*time.Second, e.DiscoveryDelay)
	require.Equal(t, []string{"192.0.2.1"}, e.NTPSources, "an empty field removes only sources set by the same field")
	require.Equal(t, "[]", e.StaticNetworkConfig)

	unreadable := errors.New("unreadable")
	network := definition.InfraEnvSettings{
		StaticNetwork: &[]wire.HostStaticNetworkConfig{{}}, ParseNetwork: func(string) (bool, error) { return false, unreadable },
	}
	require.ErrorIs(t, network.Apply(e), unreadable)
	require.Equal(t, "[]", e.StaticNetworkConfig)
	network.StaticNetwork = &[]wire.HostStaticNetworkConfig{}
	require.NoError(t, network.Apply(e))
	require.Empty(t, e.StaticNetworkConfig)
}

func TestInfraEnvsTakeVersionAndArchitectureOfTheirCluster(t *testing.T) {
	t.Parallel()
	c := &model.Cluster{ID: uuid.New(), Name: "prod", OpenShiftVersion: "4.22.9", CPUArchitecture: "aarch64"}
	e := &model.InfraEnv{CPUArchitecture: "x86_64"}
	require.NoError(t, definition.BindInfraEnv(e, c, false))
	require.Equal(t, "aarch64", e.CPUArchitecture)
	require.Equal(t, "4.22.9", e.OpenShiftVersion)
	require.NoError(t, definition.BindInfraEnv(&model.InfraEnv{CPUArchitecture: "arm64"}, c, true))
	refused(t, definition.BindInfraEnv(&model.InfraEnv{CPUArchitecture: "x86_64"}, c, true), "require aarch64 for cluster prod", "another")
	c.CPUArchitecture = "multi"
	require.NoError(t, definition.BindInfraEnv(&model.InfraEnv{CPUArchitecture: "x86_64"}, c, true))
}
