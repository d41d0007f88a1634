package installconfig_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/model"
)

// FuzzOverride: an accepted override makes an install-config that is read back the same, without unknown fields; a refused override is
// the user's to fix.
func FuzzOverride(f *testing.F) {
	for _, seed := range []string{
		`{"fips":true}`, `{"networking":{"clusterNetwork":[{"hostPrefix":24}]}}`, `{"compute":[{"replicas":2}]}`, `{"controlPlane":null}`,
		`{} {}`, `null`, `[]`,
		`{"platform":{"baremetal":{"hosts":[{"rootDeviceHints":{"deviceName":"/dev/sda"}}]}}}`,
		`{"capabilities":{"baselineCapabilitySet":"None"}}`,
		`{"platform":{"vsphere":{"vcenters":[{"server":"a"}]}}}`, `{"FIPS":true,"fips":false}`, `{"metadata":{"name":"two"}}`,
	} {
		f.Add(seed)
	}
	ha := append(hosts(model.RoleMaster, 3, 10), hosts(model.RoleWorker, 1, 20)...)
	f.Fuzz(func(t *testing.T, override string) {
		c := cluster(func(c *model.Cluster) { c.InstallConfigOverride = override })
		err := installconfig.CheckOverrideOf(c, ha, override, installconfig.Options{})
		built, buildErr := installconfig.Build(c, ha, installconfig.Options{})
		require.Equal(t, err == nil, buildErr == nil, "%v; %v", err, buildErr)
		if err != nil {
			require.ErrorIs(t, err, model.ErrInvalid)
			return
		}
		text, err := built.YAML()
		require.NoError(t, err)
		var again installconfig.InstallConfig
		require.NoError(t, yaml.UnmarshalStrict(text, &again))
		asJSON, err := built.JSON()
		require.NoError(t, err)
		require.True(t, json.Valid(asJSON))
	})
}
