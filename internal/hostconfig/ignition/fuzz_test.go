package ignition_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
)

var overrides = []string{
	"", " ", "{}", "null", `{"ignition":{"version":"3.1.0"}}`, `{"ignition":{"version":"3.5.0"}}`, `{"ignition":{"version":"2.2.0"}}`,
	`{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/hostname","overwrite":true,"contents":{"source":"data:,mine"}}]}}`,
	`{"ignition":{"version":"3.2.0"},"storage":{"links":[{"path":"/etc","target":"/x"}]},"systemd":{"units":[{"name":"agent.service","mask":true}]}}`,
	`{"ignition":{"version":"3.1.0","config":{"merge":[{"source":"https://a/config/worker"}]}},"passwd":{"users":[{"name":"core"}]}}`,
	fcos, openshift, fcosJSON, "variant: fcos\nversion: 1.5.0\nstorage: {trees: [{local: /etc}]}\n", "variant: &a [*a]\n",
	"a: &a [x]\nvariant: fcos\nversion: 1.1.0\nb: [*a, *a]\n",
	"variant: fcos\nversion: 1.6.0\nboot_device: {luks: {tpm2: true}}\ngrub: {users: [{name: root, password_hash: x}]}\n",
}

// FuzzHostOverride: a config that can be laid over a host's makes a config that Ignition takes; any other is refused with its place.
func FuzzHostOverride(f *testing.F) {
	for _, seed := range overrides {
		f.Add(seed, "infra")
	}
	f.Fuzz(func(t *testing.T, override, pool string) {
		h := host()
		h.IgnitionConfigOverrides, h.MachineConfigPoolName = override, pool
		config, err := ignition.Host(ignition.HostInput{Host: h, Role: []byte(pointer)})
		if err != nil {
			require.ErrorIs(t, err, model.ErrInvalid)
			return
		}
		require.NoError(t, ignition.CheckOverride(override), "what is merged was checked")
		require.NoError(t, document.Check(config))
	})
}

// FuzzDiscoveryOverride does the same with the config that an InfraEnv boots with.
func FuzzDiscoveryOverride(f *testing.F) {
	for _, seed := range overrides {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, override string) {
		in := minimal()
		in.InfraEnv.IgnitionConfigOverride = override
		config, err := ignition.Discovery(in)
		if err != nil {
			require.ErrorIs(t, err, model.ErrInvalid)
			return
		}
		require.NoError(t, ignition.CheckOverride(override))
		require.NoError(t, document.Check(config))
	})
}
