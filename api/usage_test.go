package api_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/service/discovery"
	"slipway/internal/service/evaluation"
	"slipway/internal/service/quota"
	"slipway/internal/wire"
)

// limited is a service that keeps few bytes, on a clock of the test.
type limited struct {
	*service
	clock *virtual
}

func newLimited(t *testing.T, infraEnv, tenant int64) *limited {
	t.Helper()
	l := &limited{clock: &virtual{}}
	l.clock.nanoseconds.Store(time.Now().UnixNano())
	l.service = newService(t, func(o *api.Options) {
		log := slog.New(slog.DiscardHandler)
		o.Quota = quota.New(quota.Options{Store: o.Store, InfraEnv: infraEnv, Tenant: tenant, Log: log, Now: l.clock.now})
		o.Discovery = discovery.New(discovery.Options{
			Store: o.Store, Log: log, Now: time.Now, Timeouts: lifecycle.DefaultTimeouts(), Quota: o.Quota,
			Evaluation: evaluation.New(evaluation.Options{Store: o.Store, Log: log, Now: time.Now, Timeouts: lifecycle.DefaultTimeouts()}),
		})
	})
	return l
}

func (l *limited) usage(infraEnvID uuid.UUID) (found wire.KeptBytes) {
	l.t.Helper()
	l.want(http.StatusOK, http.MethodGet, "/api/slipway/v1/infra-envs/"+infraEnvID.String()+"/usage", nil).JSON(&found)
	return found
}

// refusals returns how many events say that bytes are refused.
func (l *limited) refusals(query string) int {
	l.t.Helper()
	return strings.Count(string(l.want(http.StatusOK, http.MethodGet, "/v2/events?"+query, nil).Body), "bytes_of_hosts_refused")
}

func hostLogs(clusterID, hostID uuid.UUID) string {
	return clusterPath(clusterID) + "/logs?logs_type=host&host_id=" + hostID.String()
}

func TestLogsOfAnInfraEnvAreBounded(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	l := newLimited(t, limit, 0)
	c := l.cluster(nil)
	e := l.infraEnv(c.ID)
	first, second := l.host(e.ID), l.host(e.ID)
	large := strings.Repeat("x", 700<<10)
	before := l.usage(e.ID)
	require.Positive(t, before.Bytes, "documents of hosts")
	require.Less(t, before.Bytes, int64(100<<10))
	require.Equal(t, wire.KeptBytes{Bytes: before.Bytes, LimitBytes: limit, OwnerBytes: before.Bytes}, before)
	require.Equal(t, http.StatusNoContent, l.upload(hostLogs(c.ID, first.ID), large).Status)
	require.InDelta(t, before.Bytes+700<<10, l.usage(e.ID).Bytes, 10<<10)

	refused := l.upload(hostLogs(c.ID, second.ID), large)
	require.Equal(t, "an infra-env keeps at most 1.0 MiB of inventories and logs (--max-bytes-per-infra-env)",
		refused.Reason(http.StatusRequestEntityTooLarge))
	require.True(t, l.readHost(e.ID, second.ID).LogsCollectedAt.IsZero())
	body, kind := form(t, "upfile", large)
	chunked := l.send(http.MethodPost, hostLogs(c.ID, second.ID), struct{ io.Reader }{body}, "Content-Type", kind)
	require.Equal(t, http.StatusRequestEntityTooLarge, chunked.Status, "its length is not known before")
	require.Equal(t, 1, l.refusals("infra_env_id="+e.ID.String()), "it is said once")
	l.want(http.StatusNotFound, http.MethodGet, hostLogs(c.ID, second.ID), nil)

	require.Equal(t, http.StatusNoContent, l.upload(hostLogs(c.ID, first.ID), large).Status, "it replaces as much")
	l.want(http.StatusNoContent, http.MethodDelete, hostPath(e.ID, first.ID), nil)
	l.clock.advance(time.Second)
	require.Equal(t, http.StatusNoContent, l.upload(hostLogs(c.ID, second.ID), large).Status, "a host was forgotten")
}

// Uploads that are on their way count: none of them is in the database yet.
func TestLogsOnTheirWayAreCounted(t *testing.T) {
	t.Parallel()
	l := newLimited(t, 1<<20, 0)
	c := l.cluster(nil)
	e := l.infraEnv(c.ID)
	statuses := make([]int, 6)
	hosts := make([]wire.Host, len(statuses))
	for n := range hosts {
		hosts[n] = l.host(e.ID)
	}
	var running sync.WaitGroup
	for n := range statuses {
		running.Go(func() { statuses[n] = l.upload(hostLogs(c.ID, hosts[n].ID), strings.Repeat("x", 400<<10)).Status })
	}
	running.Wait()
	taken := 0
	for _, status := range statuses {
		if status == http.StatusNoContent {
			taken++
		}
	}
	require.Equal(t, 2, taken, "%v", statuses)
	require.Less(t, l.usage(e.ID).Bytes, int64(1<<20))
}

func TestInventoriesOfAnInfraEnvAreBounded(t *testing.T) {
	t.Parallel()
	l := newLimited(t, 60<<10, 0)
	e := l.infraEnv(uuid.Nil)
	report := func(host uuid.UUID, serial string) reply {
		inventory := serverInventory()
		inventory.SystemVendor.SerialNumber = serial
		text, err := json.Marshal(inventory)
		require.NoError(t, err)
		return l.send(http.MethodPost, hostPath(e.ID, host)+"/instructions",
			wire.StepReply{StepType: wire.StepTypeInventory, StepID: "inventory-1", Output: string(text)})
	}
	host := l.fill(e.ID, 1)[0]
	require.Equal(t, http.StatusNoContent, report(host, noise(40<<10)).Status)
	other := l.fill(e.ID, 1)[0]
	require.Contains(t, report(other, noise(40<<10)).Reason(http.StatusRequestEntityTooLarge), "--max-bytes-per-infra-env")
	require.Equal(t, 1, l.refusals("infra_env_id="+e.ID.String()))
	l.clock.advance(time.Minute)
	require.Equal(t, http.StatusNoContent, report(host, noise(40<<10)).Status, "one that is no larger than before")
	require.Equal(t, http.StatusRequestEntityTooLarge, report(host, noise(60<<10)).Status)
	l.want(http.StatusNoContent, http.MethodDelete, hostPath(e.ID, host), nil)
	l.clock.advance(time.Second)
	require.Equal(t, http.StatusNoContent, report(other, noise(40<<10)).Status)
}

func TestAllThatATenantKeepsIsBounded(t *testing.T) {
	t.Parallel()
	l := newLimited(t, 0, 1<<20)
	c := l.cluster(nil)
	e := l.infraEnv(c.ID)
	other := l.cluster(map[string]any{"name": "other"})
	envOfOther := l.infraEnv(other.ID)
	host := l.host(envOfOther.ID)
	large := strings.Repeat("x", 700<<10)
	require.Equal(t, http.StatusNoContent, l.upload(clusterPath(c.ID)+"/logs?logs_type=controller", large).Status)
	kept := l.usage(envOfOther.ID)
	require.Less(t, kept.Bytes, int64(100<<10))
	require.Greater(t, kept.OwnerBytes, int64(700<<10))
	require.Equal(t, int64(1<<20), kept.OwnerLimitBytes)
	for _, path := range []string{hostLogs(other.ID, host.ID), clusterPath(other.ID) + "/logs?logs_type=controller"} {
		require.Contains(t, l.upload(path, large).Reason(http.StatusRequestEntityTooLarge),
			"at most 1.0 MiB of inventories and logs (--max-bytes-per-tenant)")
	}
	require.Equal(t, 1, l.refusals("infra_env_id="+envOfOther.ID.String()))
	require.Equal(t, 1, l.refusals("cluster_id="+other.ID.String()))
	require.Equal(t, http.StatusNoContent, l.upload(clusterPath(c.ID)+"/logs?logs_type=controller", large).Status, "it replaces as much")

	l.want(http.StatusNoContent, http.MethodDelete, envPath(e.ID), nil)
	l.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil)
	purged, err := l.store.PurgeCluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.True(t, purged)
	l.clock.advance(time.Second)
	require.Equal(t, http.StatusNoContent, l.upload(hostLogs(other.ID, host.ID), large).Status)
}
