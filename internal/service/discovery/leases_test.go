package discovery_test

import (
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

func leasing(c *model.Cluster) {
	c.VIPDHCPAllocation, c.NetworkType = true, "OpenShiftSDN"
	c.APIVIPs, c.IngressVIPs = nil, nil
	c.MachineNetworks, c.MachineNetworksAuto = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, false
}

func (m *machine) leases(t *testing.T, api, ingress string) error {
	t.Helper()
	out, err := json.Marshal(wire.DhcpAllocationResponse{
		APIVipAddress: api, IngressVipAddress: ingress,
		APIVipLease: "lease {\n  fixed-address " + api + ";\n  renew 5 2026/11/20 16:00:00;\n  expire 5 2026/11/20 18:00:00;\n}\n",
	})
	require.NoError(t, err)
	return m.reply(t, wire.StepReply{StepType: wire.StepTypeDhcpLeaseAllocate, Output: string(out)})
}

func TestADHCPServerGivesTheVirtualAddresses(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t, leasing)
	m := l.machine(env, 0)
	m.register(t)
	m.answerAll(t)
	l.refresh(t, c.ID)
	require.Contains(t, stepTypes(m.poll(t)), wire.StepTypeDhcpLeaseAllocate)

	before := l.readCluster(t, c.ID)
	require.False(t, before.LeaseSince.IsZero())
	require.NoError(t, m.leases(t, "192.0.2.100", "192.0.2.101"))
	got := l.readCluster(t, c.ID)
	require.Equal(t, []model.VIP{{IP: netip.MustParseAddr("192.0.2.100")}}, got.APIVIPs)
	require.Equal(t, []model.VIP{{IP: netip.MustParseAddr("192.0.2.101")}}, got.IngressVIPs)
	require.Equal(t, "lease {\n  fixed-address 192.0.2.100;\n  renew never;\n  expire never;\n}\n", got.APIVIPLease)
	require.Greater(t, got.NetworkGeneration, before.NetworkGeneration, "hosts look whether they are free")
	require.Equal(t, 1, l.events(t, c.ID)["api_ingress_vip_updated"])

	require.NoError(t, m.leases(t, "192.0.2.100", "192.0.2.101"))
	require.Equal(t, got.NetworkGeneration, l.readCluster(t, c.ID).NetworkGeneration, "the same lease is no news")
	l.refresh(t, c.ID)
	require.True(t, l.readCluster(t, c.ID).LeaseSince.IsZero())

	require.NoError(t, m.leases(t, "198.51.100.7", "198.51.100.8"))
	require.Equal(t, got.APIVIPs, l.readCluster(t, c.ID).APIVIPs, "a lease of another network came too late")
	require.ErrorIs(t, m.leases(t, "nowhere", "192.0.2.101"), model.ErrInvalid)
	require.ErrorIs(t, m.leases(t, "192.0.2.100", "2001:db8::1"), model.ErrInvalid)

	l.setCluster(t, c.ID, func(c *model.Cluster) { c.VIPDHCPAllocation = false })
	require.NoError(t, m.leases(t, "192.0.2.102", "192.0.2.103"))
	require.Equal(t, got.APIVIPs, l.readCluster(t, c.ID).APIVIPs, "addresses are set by the user again")
}

func TestALeaseThatDoesNotComeIsToldOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t, leasing)
	m := l.machine(env, 0)
	m.register(t)
	m.answerAll(t)
	l.refresh(t, c.ID)
	status := func() model.ValidationStatus {
		for _, r := range l.readCluster(t, c.ID).Validations {
			if r.ID == "api-vips-defined" {
				return r.Status
			}
		}
		return ""
	}
	require.Equal(t, model.ValidationPending, status())
	l.pass(3 * time.Minute)
	require.NoError(t, m.reply(t, wire.StepReply{StepType: wire.StepTypeDhcpLeaseAllocate, ExitCode: 124, Error: "no answer"}))
	for range 2 {
		l.refresh(t, c.ID)
		require.Equal(t, model.ValidationFailure, status())
	}
	require.Equal(t, 1, l.events(t, c.ID)["api_ingress_vip_timed_out"])
	l.setCluster(t, c.ID, func(c *model.Cluster) { c.MachineNetworks[0] = netip.MustParsePrefix("198.51.100.0/24") })
	l.refresh(t, c.ID)
	require.Equal(t, model.ValidationPending, status(), "another network has another server")
}

func stepTypes(steps wire.Steps) []wire.StepType {
	var out []wire.StepType
	for _, s := range steps.Instructions {
		out = append(out, s.StepType)
	}
	return out
}

func TestAnswersOfHostsThatJoinACluster(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t, func(c *model.Cluster) { c.Kind, c.Status = model.KindAddHostsCluster, model.ClusterAddingHosts })
	m := l.machine(env, 0)
	m.register(t)
	m.answerAll(t)
	l.refresh(t, c.ID)
	require.Contains(t, stepTypes(m.poll(t)), wire.StepTypeAPIVipConnectivityCheck)

	config := `{"storage":{"luks":[{"clevis":{"tang":[{"url":"http://tang.example.com","thumbprint":"abc"}]}}]}}`
	reply, err := json.Marshal(wire.APIVipConnectivityResponse{IsSuccess: true, URL: "http://api:22624/config/worker", Ignition: config})
	require.NoError(t, err)
	require.NoError(t, m.reply(t, wire.StepReply{StepType: wire.StepTypeAPIVipConnectivityCheck, Output: string(reply)}))
	require.JSONEq(t, config, m.read(t).IgnitionDownload.Ignition)
	l.refresh(t, c.ID)
	require.Equal(t, model.ValidationSuccess, m.validation(t, "ignition-downloadable").Status)
	require.Equal(t, model.ValidationPending, m.validation(t, "disk-encryption-requirements-satisfied").Status)

	asked := m.poll(t).Instructions
	require.Contains(t, stepTypes(wire.Steps{Instructions: asked}), wire.StepTypeTangConnectivityCheck, "the workers' servers are new")
	require.NoError(t, m.reply(t, wire.StepReply{StepType: wire.StepTypeTangConnectivityCheck, ExitCode: -1, Error: "connection refused"}))
	l.refresh(t, c.ID)
	require.Contains(t, m.validation(t, "disk-encryption-requirements-satisfied").Message, "connection refused")
	require.NoError(t, m.reply(t, wire.StepReply{StepType: wire.StepTypeTangConnectivityCheck, Output: `{"is_success":true}`}))
	l.refresh(t, c.ID)
	require.Equal(t, model.ValidationSuccess, m.validation(t, "disk-encryption-requirements-satisfied").Status)
	require.ErrorIs(t, m.reply(t, wire.StepReply{StepType: wire.StepTypeTangConnectivityCheck, Output: "{"}), model.ErrInvalid)

	m.register(t)
	again := m.read(t)
	require.Nil(t, again.Tang, "a host that was booted again is asked again")
	require.Nil(t, again.IgnitionDownload)
}
