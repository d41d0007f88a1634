package discovery_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/service/discovery"
	"slipway/internal/wire"
)

func TestFiveHostsBecomeAClusterThatIsReady(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.run(t)
	c, env := l.cluster(t)
	for i := range 5 {
		m := l.machine(env, i)
		if i >= 3 {
			m.cpus, m.memoryGiB = 32, 128
		}
		m.boot(t)
	}
	l.reaches(t, c.ID, model.ClusterReady)

	got := l.readCluster(t, c.ID)
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, got.MachineNetworks)
	require.True(t, got.MachineNetworksAuto)
	require.Len(t, got.HostNetworks, 1)
	require.Len(t, got.Connectivity.Majority["192.0.2.0/24"], 5)
	hosts, err := l.store.ClusterHosts(t.Context(), c.ID)
	require.NoError(t, err)
	roles := map[model.Role]int{}
	for _, h := range hosts {
		roles[h.SuggestedRole]++
		require.Equal(t, model.HostKnown, h.Status)
		require.Equal(t, "/dev/sda", h.InstallationDiskPath)
		require.False(t, h.Inventory.Disks[1].InstallationEligibility.Eligible, "the second disk is too small")
		require.Len(t, h.Inventory.Interfaces, 1, "virtual interfaces are left out")
		if h.Inventory.CPU.Count == 32 {
			require.Equal(t, model.RoleWorker, h.SuggestedRole, "the large hosts are left for the work")
		}
	}
	require.Equal(t, map[model.Role]int{model.RoleMaster: 3, model.RoleWorker: 2}, roles)
	events := l.events(t, c.ID)
	require.Equal(t, 5, events["host_registration_succeeded"])
	require.Positive(t, events["cluster_status_updated"])
	require.GreaterOrEqual(t, events["host_status_updated"], 5)
	require.GreaterOrEqual(t, events["host_role_updated"], 5)
}

func TestSingleNodeBecomesReady(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.run(t)
	c, env := l.cluster(t, singleNode)
	m := l.machine(env, 0)
	m.boot(t)
	l.reaches(t, c.ID, model.ClusterReady)
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, l.readCluster(t, c.ID).MachineNetworks)
	require.Equal(t, model.RoleMaster, m.read(t).Role)
	require.True(t, m.read(t).Bootstrap)
	require.Equal(t, 1, m.count(wire.StepTypeInventory), "a fact is not asked twice")
}

// The mark of a single node alone is cleared: its user has given the host another role meanwhile.
func TestEvaluationWritesAHostOfWhichOnlyItsMarkOfASingleNodeChanges(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	_, err := l.service.Register(t.Context(), discovery.RegisterInput{InfraEnvID: env.ID, HostID: m.id})
	require.NoError(t, err)
	m.set(t, func(h *model.Host) { h.Role = model.RoleWorker })
	l.refresh(t, c.ID)
	m.set(t, func(h *model.Host) { h.OfSingleNode = true })
	before := m.read(t)
	l.refresh(t, c.ID)
	after := m.read(t)
	require.False(t, after.OfSingleNode)
	require.True(t, after.UpdatedAt.After(before.UpdatedAt))
	before.OfSingleNode, before.UpdatedAt = false, after.UpdatedAt
	require.Equal(t, before, after)
	l.refresh(t, c.ID)
	require.Equal(t, after, m.read(t), "nothing is left to change")
}
