package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

// paging is a service with many clusters and hosts, which it gives in pages unless it is old.
type paging struct {
	old bool

	mu    sync.Mutex
	asked []url.Values // of pages
}

func (p *paging) clusters() (all []wire.Cluster) {
	for n := range 450 {
		all = append(all, wire.Cluster{
			ID: uuid.New(), Name: fmt.Sprint("Lab-", n), Status: wire.ClusterStatusReady,
			UpdatedAt: wire.DateTime(now.Add(-time.Duration(n) * time.Hour)),
		})
	}
	return all
}

func (p *paging) hosts() (all []wire.Host) {
	for n := range 120 {
		role := wire.HostRoleWorker
		if n < 3 {
			role = wire.HostRoleMaster
		}
		all = append(all, wire.Host{
			ID: uuid.New(), InfraEnvID: envID, RequestedHostname: fmt.Sprint("host-", n), Role: role, Status: wire.HostStatusKnown,
			UpdatedAt: wire.DateTime(now.Add(-time.Duration(n) * time.Hour)),
		})
	}
	return all
}

// events has one event of each minute before now, oldest first.
func (p *paging) events() (all []wire.Event) {
	for n := range 1500 {
		all = append(all, wire.Event{
			ClusterID: clusterID, Severity: wire.EventSeverityInfo, Message: fmt.Sprint("event-", n),
			EventTime: wire.DateTime(now.Add(-time.Duration(1499-n) * time.Minute)),
		})
	}
	return all
}

// ServeHTTP implements http.Handler. Filters are for the tests of the service itself.
func (p *paging) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	query := r.URL.Query()
	cut := func(length int) (from, to int, next string) {
		p.asked = append(p.asked, query)
		from, _ = strconv.Atoi(query.Get("page_token"))
		limit, _ := strconv.Atoi(query.Get("limit"))
		if to = from + limit; to < length {
			return from, to, strconv.Itoa(to)
		}
		return from, length, ""
	}
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	switch path := r.URL.Path; {
	case path == "/api/slipway/v1/clusters" && !p.old:
		from, to, next := cut(450)
		answer(wire.ClusterPage{Clusters: p.clusters()[from:to], NextPageToken: next})
	case path == "/api/slipway/v1/hosts" && !p.old:
		from, to, next := cut(120)
		answer(wire.HostPage{Hosts: p.hosts()[from:to], NextPageToken: next})
	case path == "/api/slipway/v1/events" && !p.old:
		from, to, next := cut(1500)
		events := p.events()
		slices.Reverse(events)
		answer(wire.EventPage{Events: events[from:to], NextPageToken: next})
	case path == "/api/assisted-install/v2/events":
		answer(p.events())
	case path == "/api/assisted-install/v2/clusters/"+clusterID.String():
		answer(wire.Cluster{ID: clusterID, Name: "green"})
	case path == "/api/assisted-install/v2/clusters":
		answer(append(p.clusters(), wire.Cluster{ID: clusterID, Name: "green"}))
	case path == "/api/assisted-install/v2/infra-envs":
		answer([]wire.InfraEnv{{ID: envID, Name: "pool"}})
	case path == "/api/assisted-install/v2/infra-envs/"+envID.String()+"/hosts":
		answer(p.hosts())
	default:
		w.WriteHeader(http.StatusNotFound)
		answer(wire.Error{Reason: "there is no such address"})
	}
}

// listed types a command of a service and returns the names that it prints, and what pages it asked for.
func (p *paging) listed(t *testing.T, args ...string) (names []string, asked []url.Values) {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	out, err := run(t, server.URL, args...)
	require.NoError(t, err)
	return strings.Fields(out), p.asked
}

func TestListsReadAllPages(t *testing.T) {
	t.Parallel()
	names, asked := (&paging{}).listed(t, "cluster", "list", "-o", "name")
	require.Len(t, names, 450)
	require.Equal(t, []string{"cluster/Lab-0", "cluster/Lab-449"}, []string{names[0], names[449]})
	require.Equal(t, []url.Values{
		{"limit": {"200"}}, {"limit": {"200"}, "page_token": {"200"}}, {"limit": {"200"}, "page_token": {"400"}},
	}, asked)

	names, asked = (&paging{}).listed(t, "cluster", "list", "-o", "name", "--limit", "250", "--status", "ready,installed", "--name", "lab",
		"--updated-since", "2d")
	require.Len(t, names, 250)
	filters := func(more url.Values) url.Values {
		more["name"], more["status"], more["updated_since"] = []string{"lab"}, []string{"ready", "installed"}, []string{"2025-12-31T12:00:00Z"}
		return more
	}
	require.Equal(t, []url.Values{filters(url.Values{"limit": {"200"}}), filters(url.Values{"limit": {"50"}, "page_token": {"200"}})}, asked)

	names, asked = (&paging{}).listed(t, "host", "list", "-o", "name", "--infra-env", "pool", "--role", "worker", "--limit", "70")
	require.Len(t, names, 70)
	require.Len(t, asked, 2)
	require.Equal(t, url.Values{
		"limit": {"50"}, "role": {"worker"}, "infra_env_id": {envID.String()}, "with_inventory": {"true"}, "with_connectivity": {"true"},
	}, asked[0], "programs get all of a host")
	_, asked = (&paging{}).listed(t, "host", "list", "--cluster", "green")
	require.Equal(t, []url.Values{{"limit": {"200"}, "cluster_id": {clusterID.String()}}}, asked, "tables need no inventories")
}

func TestListsOfAnOlderServiceAreNarrowedHere(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"cluster list --name lab-449":                            {"cluster/Lab-449"},
		"cluster list --updated-since 2h":                        {"cluster/Lab-0", "cluster/Lab-1", "cluster/Lab-2"},
		"cluster list --limit 2":                                 {"cluster/Lab-0", "cluster/Lab-1"},
		"cluster list --name lab --status installed":             {},
		"host list --role worker --limit 2":                      {"host/host-3", "host/host-4"},
		"host list --role master --infra-env pool":               {"host/host-0", "host/host-1", "host/host-2"},
		"host list --name HOST-11 --updated-since 5d --limit 3":  {"host/host-11", "host/host-110", "host/host-111"},
		"host list --name host-1 --updated-since 1h30m -o name ": {"host/host-1"},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			names, asked := (&paging{old: true}).listed(t, append(strings.Fields(line), "-o", "name")...)
			require.Empty(t, asked)
			require.Equal(t, want, names)
		})
	}
}

func TestEventsAreReadFromTheNewest(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		service := &paging{old: old}
		typed := []string{"cluster", "events", "green", "-o", "jsonpath={[*].message}"}
		shown, asked := service.listed(t, append(typed, "--limit", "1200")...)
		require.Len(t, shown, 1200)
		require.Equal(t, []string{"event-300", "event-1499"}, []string{shown[0], shown[1199]})
		if !old {
			require.Len(t, asked, 2)
			require.Equal(t, url.Values{
				"cluster_id": {clusterID.String()}, "limit": {"200"}, "page_token": {"1000"},
				"severity": {"info", "warning", "error", "critical"},
			}, asked[1])
		}
		shown, asked = (&paging{old: old}).listed(t, append(typed, "--since", "2m", "--severity", "info", "--limit", "2")...)
		require.Equal(t, []string{"event-1498", "event-1499"}, shown)
		if !old {
			require.Equal(t, []url.Values{{
				"cluster_id": {clusterID.String()}, "limit": {"2"}, "severity": {"info"}, "since": {"2026-01-02T11:58:00Z"},
			}}, asked)
		}
		shown, asked = (&paging{old: old}).listed(t, typed...)
		require.Len(t, shown, 1500)
		require.Empty(t, asked, "all events need no pages")
		shown, _ = (&paging{old: true}).listed(t, append(typed, "--since", "2m")...)
		require.Equal(t, []string{"event-1497", "event-1498", "event-1499"}, shown)
	}
}

func TestListsRefuseFlagsThatMeanNothing(t *testing.T) {
	t.Parallel()
	for line, reason := range map[string]string{
		"cluster list --limit=-1":          "--limit: require at least 0",
		"host list --limit=-1":             "--limit: require at least 0",
		"host list --updated-since=-2h":    "--updated-since: require a time such as 2h",
		"cluster list --updated-since=two": "require a time with its unit",
	} {
		_, err := run(t, "http://127.0.0.1:1", strings.Fields(line)...)
		require.ErrorContains(t, err, reason, line)
	}
}
