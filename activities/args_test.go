package activities_test

import (
	"net/netip"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

func TestOnlyStepsThatNameOtherHostsReadThem(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	other, err := x.store.RegisterHost(t.Context(), x.ref.InfraEnvID, uuid.New(), func() *model.Host {
		return &model.Host{
			ClusterID: &x.ref.ClusterID, Kind: model.KindHost, Status: model.HostInstalling, Role: model.RoleMaster,
			AgentSteps: model.FineSteps,
		}
	}, func(h *model.Host, _ bool, _ *store.Tx) error {
		h.Inventory = &wire.Inventory{Interfaces: []wire.Interface{{Name: "eth0", Ipv4Addresses: []string{"192.0.2.7/24"}}}}
		return nil
	})
	require.NoError(t, err)
	require.NotNil(t, other.Inventory)
	c, err := x.store.Cluster(t.Context(), x.ref.ClusterID)
	require.NoError(t, err)
	c.MachineNetworks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	bootstrap := *x.host
	bootstrap.Bootstrap = true
	args := &activities.StepArgs{Store: x.store, CheckClusterVersion: true, Disabled: []string{"installation-disk-speed-check", "stop-installation"}}

	speed, err := args.StepArgs(t.Context(), string(wire.StepTypeInstallationDiskSpeedCheck), c, &bootstrap)
	require.NoError(t, err)
	require.Nil(t, speed, "a check that is disabled is skipped")

	logs, err := args.StepArgs(t.Context(), string(wire.StepTypeLogsGather), c, &bootstrap)
	require.NoError(t, err)
	require.Contains(t, logs[0], `"master_ips":["192.0.2.7"]`)

	stop, err := args.StepArgs(t.Context(), string(wire.StepTypeStopInstallation), c, &bootstrap)
	require.NoError(t, err)
	require.Equal(t, []string{}, stop)
}
