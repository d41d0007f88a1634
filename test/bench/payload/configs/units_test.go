package configs_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/coreos/ignition/v2/config/v3_5"
	"github.com/stretchr/testify/require"

	"slipway/internal/testing/realinstall"
	"slipway/test/bench/payload/configs"
	"slipway/test/bench/payload/plan"
)

// When the units of the temporary control plane stay down: its API's units when masters carry the cluster, etcd and the
// floating address until bootkube is done. bootkube itself is started again 5 s after each failure, without a limit.
func TestTheTemporaryControlPlaneGoesInTwoSteps(t *testing.T) {
	t.Parallel()
	const carried, done = "ConditionPathExists=!/opt/openshift/cb-bootstrap.done\n", "ConditionPathExists=!/opt/openshift/.bootkube.done\n"
	for _, c := range []struct {
		inPlace bool
		unless  map[string]string
	}{
		{false, map[string]string{
			"etcd": done, "bench-keepalived": done, "kube-apiserver": carried, "kube-controller-manager": carried, "machine-config-server": carried,
		}},
		{true, map[string]string{
			"etcd": done, "bench-keepalived": done, "kube-apiserver": carried, "kube-controller-manager": carried, "machine-config-server": done,
		}},
	} {
		config, err := configs.Bootstrap(&plan.Cluster{InPlace: c.inPlace, APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}}, nil, nil, "")
		require.NoError(t, err)
		parsed, report, err := v3_5.ParseCompatibleVersion(config)
		require.NoError(t, err, report.String())
		found := 0
		for _, unit := range parsed.Systemd.Units {
			name := strings.TrimSuffix(unit.Name, ".service")
			if want, known := c.unless[name]; known {
				require.Contains(t, *unit.Contents, want, name)
				found++
			}
			switch name {
			case "node-image-overlay":
				require.Contains(t, *unit.Contents, "Requires=node-image-pull.service\n")
			case "bootkube":
				require.Contains(t, *unit.Contents, "ExecStartPre=/usr/bin/test -e /run/bench/node-image\n")
				require.Contains(t, *unit.Contents, "Restart=on-failure\nRestartSec=5\n")
				require.Contains(t, *unit.Contents, "StartLimitIntervalSec=0\n")
			}
		}
		require.Len(t, c.unless, found)
	}
}

func TestBootstrapConfigsChangeUnitsOfTheSystemAsRealOnes(t *testing.T) {
	t.Parallel()
	// ofSystem lists the units of a config that it does not bring: contents, whether enabled, names of drop-ins.
	ofSystem := func(config []byte) map[string][]any {
		parsed, report, err := v3_5.ParseCompatibleVersion(config)
		require.NoError(t, err, report.String())
		found := map[string][]any{}
		for _, u := range parsed.Systemd.Units {
			if u.Contents != nil && *u.Contents != "" {
				continue
			}
			said := []any{u.Contents != nil, u.Enabled != nil && *u.Enabled}
			for _, d := range u.Dropins {
				said = append(said, d.Name)
			}
			found[u.Name] = said
		}
		return found
	}
	ours, err := configs.Bootstrap(&plan.Cluster{}, nil, nil, "")
	require.NoError(t, err)
	for _, c := range realinstall.Cases(t) {
		if config := c.Bootstrap(); config != nil {
			require.Equal(t, ofSystem(config), ofSystem(ours), c.Name)
		}
	}
}
