package cli_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// An image that got into wrong hands has registered hosts: one command deletes them, and no host that is in use.
func TestManyHostsOfAnInfraEnvAreForgotten(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.run(t, "infra-env", "create", "pool", "--pull-secret", s.secret)
	env := s.infraEnv(t, "pool")
	statuses := map[model.HostStatus]int{
		model.HostDiscoveringUnbound: 20, model.HostKnownUnbound: 2, model.HostInsufficientUnbound: 1,
	}
	for status, n := range statuses {
		for range n {
			id := uuid.New()
			_, err := s.client.RegisterHost(t.Context(), env.ID, id)
			require.NoError(t, err)
			s.changeHost(t, env.ID, id, func(h *model.Host) { h.Status = status })
		}
	}
	left := func() map[wire.HostStatus]int {
		hosts, err := s.client.ListHosts(t.Context(), env.ID)
		require.NoError(t, err)
		counts := map[wire.HostStatus]int{}
		for n := range hosts {
			counts[hosts[n].Status]++
		}
		return counts
	}
	_, err := run(t, s.url, "infra-env", "forget-hosts", "pool")
	require.ErrorContains(t, err, "--status")
	_, err = run(t, s.url, "infra-env", "forget-hosts", "pool", "--status", "rready")
	require.ErrorContains(t, err, `found "rready"`)
	forget := []string{"infra-env", "forget-hosts", "pool", "--status", "discovering-unbound,insufficient-unbound"}
	require.Equal(t, "21 hosts of InfraEnv pool would be deleted\n", s.run(t, append(forget, "--dry-run")...))
	require.Equal(t, "0 of 0 hosts of InfraEnv pool deleted\n", s.run(t, append(forget, "--silent", "1h")...), "they called just now")
	require.Equal(t, map[wire.HostStatus]int{"discovering-unbound": 20, "known-unbound": 2, "insufficient-unbound": 1}, left())
	require.Equal(t, "21 of 21 hosts of InfraEnv pool deleted\n", s.run(t, forget...))
	require.Equal(t, map[wire.HostStatus]int{"known-unbound": 2}, left())
}
