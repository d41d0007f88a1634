package api_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// history writes events of a cluster: two infos, a warning, an event of a host, and an event of metrics.
func (s *service) history(clusterID, hostID uuid.UUID) {
	s.t.Helper()
	require.NoError(s.t, s.store.Write(s.t.Context(), func(tx *store.Tx) error {
		for i, e := range []model.Event{
			{Name: "one", Severity: model.SeverityInfo, Message: "First Event"},
			{Name: "two", Severity: model.SeverityWarning, Message: "second event"},
			{Name: "three", Severity: model.SeverityInfo, Message: "third", Props: map[string]any{"a": 1}},
			{Name: "four", Severity: model.SeverityError, Message: "of a host", HostID: &hostID},
			{Name: "five", Severity: model.SeverityInfo, Message: "a number", Category: "metrics"},
		} {
			if e.Category == "" {
				e.Category = "user"
			}
			e.ClusterID, e.At = &clusterID, tx.Now().Add(time.Duration(i)*time.Millisecond)
			tx.Event(e)
		}
		return nil
	}))
}

func TestEventsAreFilteredOrderedAndCounted(t *testing.T) {
	t.Parallel()
	s := newService(t)
	cluster, host := uuid.New(), uuid.New()
	s.history(cluster, host)
	for query, want := range map[string][]any{
		"":                                       {"one", "two", "three", "four"},
		"&order=descending":                      {"four", "three", "two", "one"},
		"&order=descending&limit=2":              {"four", "three"},
		"&limit=2&offset=1":                      {"two", "three"},
		"&severities=warning,error":              {"two", "four"},
		"&message=EVENT":                         {"one", "two"},
		"&host_id=" + host.String():              {"four"},
		"&host_ids=" + host.String():             {"four"},
		"&cluster_level=true":                    {"one", "two", "three"},
		"&cluster_level=false":                   {"four"},
		"&deleted_hosts=false":                   {"one", "two", "three"},
		"&categories=metrics":                    {"five"},
		"&categories=user,metrics&limit=1":       {"one"},
		"&infra_env_id=" + uuid.NewString():      {},
		"&order=ascending&message=no such words": {},
	} {
		names := []any{}
		for _, e := range s.want(http.StatusOK, http.MethodGet, "/v2/events?cluster_id="+cluster.String()+escaped(query), nil).List() {
			names = append(names, e["name"])
		}
		require.Equal(t, want, names, query)
	}
	header := s.want(http.StatusOK, http.MethodGet, "/v2/events?limit=1&cluster_id="+cluster.String(), nil).Header
	for name, n := range map[string]int{
		"Event-Count": 4, "Severity-Count-Info": 2, "Severity-Count-Warning": 1, "Severity-Count-Error": 1, "Severity-Count-Critical": 0,
	} {
		require.Equal(t, strconv.Itoa(n), header.Get(name), "all that match, not the page: %s", name)
		require.Contains(t, header.Get("Access-Control-Expose-Headers"), name)
	}
}

// tell writes an event of a cluster, or of one of its hosts.
func (s *service) tell(clusterID uuid.UUID, hostID *uuid.UUID, message string) {
	s.t.Helper()
	require.NoError(s.t, s.store.Write(s.t.Context(), func(tx *store.Tx) error {
		tx.Event(model.Event{
			Name: "told", Category: "user", Severity: model.SeverityInfo, ClusterID: &clusterID, HostID: hostID, Message: message,
			At: tx.Now(),
		})
		return nil
	}))
}

func TestEventsThatAnyOfTheChoicesWantsAreListed(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	kept, deleted := s.host(e.ID), s.host(e.ID)
	s.tell(c.ID, nil, "of the cluster")
	s.tell(c.ID, &kept.ID, "of a kept host")
	s.tell(c.ID, &deleted.ID, "of a deleted host")
	s.want(http.StatusNoContent, http.MethodDelete, hostPath(e.ID, deleted.ID), nil)
	for query, want := range map[string][]any{
		"":                                       {"of the cluster", "of a kept host", "of a deleted host"},
		"&cluster_level=true":                    {"of the cluster"},
		"&deleted_hosts=true":                    {"of a deleted host"},
		"&deleted_hosts=false":                   {"of the cluster", "of a kept host"},
		"&cluster_level=true&deleted_hosts=true": {"of the cluster", "of a deleted host"},
		"&cluster_level=true&host_ids=" + kept.ID.String():                             {"of the cluster", "of a kept host"},
		"&cluster_level=false&deleted_hosts=false&host_ids=" + kept.ID.String():        {"of a kept host"},
		"&deleted_hosts=true&host_ids=" + kept.ID.String() + "," + deleted.ID.String(): {"of a kept host", "of a deleted host"},
		"&cluster_level=true&deleted_hosts=true&host_id=" + kept.ID.String(): {
			"of the cluster", "of a kept host", "of a deleted host",
		},
		"&cluster_level=true&deleted_hosts=true&severities=critical&order=descending":         {},
		"&cluster_level=true&host_ids=" + uuid.NewString() + "&infra_env_id=" + e.ID.String(): {},
	} {
		messages := []any{}
		for _, e := range s.want(http.StatusOK, http.MethodGet, "/v2/events?cluster_id="+c.ID.String()+query, nil).List() {
			if e["name"] == "told" {
				messages = append(messages, e["message"])
			}
		}
		require.ElementsMatch(t, want, messages, query)
	}
}

func escaped(query string) string {
	out := []byte{}
	for i := range len(query) {
		if query[i] == ' ' {
			out = append(out, '+')
			continue
		}
		out = append(out, query[i])
	}
	return string(out)
}

func TestControllerAddsAnEvent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	event := map[string]any{
		"cluster_id": c.ID, "name": "reboots_for_node", "severity": "info", "message": "Node a rebooted 2 times",
		"event_time": "2026-11-20T16:28:32.123Z", "category": "user",
	}
	s.want(http.StatusCreated, http.MethodPost, "/v2/events", event)
	list := s.want(http.StatusOK, http.MethodGet, "/v2/events?message=rebooted&cluster_id="+c.ID.String(), nil).List()
	require.Len(t, list, 1)
	require.Equal(t, "reboots_for_node", list[0]["name"])
	require.NotContains(t, list[0], "props")
	event["props"] = `{"reboots":2}`
	s.want(http.StatusCreated, http.MethodPost, "/v2/events", event)
	list = s.want(http.StatusOK, http.MethodGet, "/v2/events?order=descending&message=rebooted&cluster_id="+c.ID.String(), nil).List()
	require.JSONEq(t, `{"reboots":2}`, list[0]["props"].(string), "as it was sent")
	for name, call := range map[string]struct {
		field  string
		value  any
		status int
	}{
		"of no cluster":        {"cluster_id", uuid.New(), http.StatusNotFound},
		"of nothing":           {"cluster_id", nil, http.StatusBadRequest},
		"of no severity":       {"severity", "loud", http.StatusBadRequest},
		"at no time":           {"event_time", "yesterday", http.StatusBadRequest},
		"with an unknown word": {"bogus", 1, http.StatusBadRequest},
	} {
		body := map[string]any{}
		for key, value := range event {
			body[key] = value
		}
		body[call.field] = call.value
		require.Equal(t, call.status, s.send(http.MethodPost, "/v2/events", body).Status, name)
	}
}
