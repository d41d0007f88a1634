package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/store"
)

// pageOf is a page of any list.
type pageOf struct {
	Clusters, Hosts, Events []map[string]any
	Next                    string `json:"next_page_token"`
}

func (p pageOf) items() []map[string]any {
	return slices.Concat(p.Clusters, p.Hosts, p.Events)
}

// page reads a page of an own list: its name, then the query.
func (s *service) page(query string, user ...string) (p pageOf) {
	s.t.Helper()
	s.want(http.StatusOK, http.MethodGet, "/api/slipway/v1/"+query, nil, user...).JSON(&p)
	return p
}

// walk reads all pages of a list, and calls between before each page but the first.
func (s *service) walk(query string, between func(read []map[string]any), user ...string) (all []map[string]any) {
	s.t.Helper()
	for token := ""; ; {
		p := s.page(query+"&page_token="+token, user...)
		all = append(all, p.items()...)
		if token = p.Next; token == "" {
			return all
		}
		between(p.items())
	}
}

func texts(all []map[string]any, field string) (out []string) {
	for _, one := range all {
		out = append(out, fmt.Sprint(one[field]))
	}
	return out
}

func nothing([]map[string]any) {}

func TestPagesVisitEachRowOnceWhileRowsComeAndGo(t *testing.T) {
	t.Parallel()
	s := newService(t)
	env := s.infraEnv(uuid.Nil)
	for name, list := range map[string]struct {
		query  string
		add    func() string
		remove func(id string)
		table  string
	}{
		"clusters": {
			"clusters?limit=3", func() string { return s.cluster(map[string]any{"name": "c"}).ID.String() },
			func(id string) { s.want(http.StatusNoContent, http.MethodDelete, "/v2/clusters/"+id, nil) }, "slipway.clusters",
		},
		"hosts": {
			"hosts?limit=3", func() string { return s.host(env.ID).ID.String() },
			func(id string) {
				s.want(http.StatusNoContent, http.MethodDelete, hostPath(env.ID, uuid.MustParse(id)), nil)
			}, "slipway.hosts",
		},
	} {
		stay := map[string]bool{}
		for range 14 {
			stay[list.add()] = true
		}
		// Several rows of one moment are on either side of the end of a page.
		s.sql(`update ` + list.table + ` set shown = null, created_at = date_trunc('hour', created_at)
			where id in (select id from ` + list.table + ` order by created_at limit 8)`)
		all := texts(s.page(strings.Replace(list.query, "3", "1000", 1)).items(), "id")
		require.Len(t, all, 14, name)
		seen := map[string]int{}
		count := func(items []map[string]any) {
			for _, id := range texts(items, "id") {
				seen[id]++
			}
		}
		rounds := 0
		rest := s.walk(list.query, func(read []map[string]any) {
			rounds++
			list.add()
			last := texts(read, "id")[len(read)-1]
			if rounds == 1 { // what the token names goes, and rows on both sides of it
				at := slices.Index(all, last)
				for _, id := range []string{last, all[at-1], all[at+2]} {
					list.remove(id)
					delete(stay, id)
				}
			}
			require.Less(t, rounds, 30)
		})
		count(rest)
		require.GreaterOrEqual(t, rounds, 4)
		for id, times := range seen {
			require.Equal(t, 1, times, "%s %s", name, id)
		}
		for id := range stay {
			require.Equal(t, 1, seen[id], "%s %s stayed", name, id)
		}
	}
}

func TestListsAreNarrowedByTheirFilters(t *testing.T) {
	t.Parallel()
	s := newService(t)
	lab, prod := s.cluster(map[string]any{"name": "lab-one", "tags": "edge,red"}), s.cluster(map[string]any{"name": "prod", "tags": "edge"})
	s.cluster(map[string]any{"name": "plain"})
	s.changeCluster(prod.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
	env, pool := s.infraEnv(lab.ID), s.infraEnv(uuid.Nil)
	one, two, three := s.host(env.ID), s.host(env.ID), s.host(pool.ID)
	s.changeHost(env.ID, one.ID, func(h *model.Host) {
		h.RequestedHostname, h.NodeLabels, h.Role = "Rack-1", map[string]string{"site": "lab", "rack": ""}, model.RoleMaster
	})
	s.changeHost(env.ID, two.ID, func(h *model.Host) {
		h.Inventory.Hostname, h.NodeLabels, h.Status = "rack-2", map[string]string{"site": "lab2"}, model.HostError
	})
	s.changeHost(pool.ID, three.ID, func(h *model.Host) { h.Inventory = nil })
	s.page("hosts?") // everything is evaluated
	s.sql(`update slipway.clusters set shown = null, updated_at = '2020-01-01' where name = 'plain'`)
	s.sql(`update slipway.hosts set shown = null, updated_at = '2020-01-01' where id = '` + three.ID.String() + `'`)
	names := map[string]string{one.ID.String(): "one", two.ID.String(): "two", three.ID.String(): "three"}
	unbound := s.page("hosts?infra_env_id=" + pool.ID.String()).Hosts[0]["status"]
	for query, want := range map[string]string{
		"clusters?":                                          "plain prod lab-one",
		"clusters?status=installed":                          "prod",
		"clusters?status=installed&status=ready":             "prod",
		"clusters?status=installed,pending-for-input":        "plain prod lab-one",
		"clusters?name=LAB":                                  "lab-one",
		"clusters?name=%25":                                  "",
		"clusters?tag=edge":                                  "prod lab-one",
		"clusters?tag=edge&tag=red":                          "lab-one",
		"clusters?tag=edg":                                   "",
		"clusters?updated_since=2020-01-01T00:00:01Z":        "prod lab-one",
		"clusters?updated_since=2999-01-01T00:00:01%2B02:00": "",
		"clusters?tag=edge&name=prod&status=ready":           "",
		"hosts?":                                                  "one two three",
		"hosts?cluster_id=" + lab.ID.String():                     "one two",
		"hosts?infra_env_id=" + pool.ID.String():                  "three",
		"hosts?cluster_id=" + prod.ID.String():                    "",
		"hosts?status=error":                                      "two",
		fmt.Sprint("hosts?status=error&status=", unbound):         "two three",
		"hosts?role=master":                                       "one",
		"hosts?name=rack-":                                        "one two",
		"hosts?name=" + three.ID.String()[:13]:                    "three",
		"hosts?label=site":                                        "one two",
		"hosts?label=site=lab":                                    "one",
		"hosts?label=site=lab,rack":                               "one",
		"hosts?label=site=lab2,rack":                              "",
		"hosts?updated_since=2020-01-01T00:00:01Z":                "one two",
		"hosts?cluster_id=" + lab.ID.String() + "&name=rack-2":    "two",
		"hosts?infra_env_id=" + env.ID.String() + "&status=known": "",
	} {
		var found []string
		for _, one := range s.page(query).items() {
			name := fmt.Sprint(one["name"])
			if id := names[fmt.Sprint(one["id"])]; id != "" {
				name = id
			}
			found = append(found, name)
		}
		require.Equal(t, want, strings.Join(found, " "), query)
	}
	for query, reason := range map[string]string{
		"clusters?status=rready":                   "status: require a status of clusters, such as ready, found",
		"clusters?status=ready&status=known":       "status: require a status of clusters, such as ready, found",
		"clusters?updated_since=yesterday":         "updated_since: require the format date-time",
		"hosts?updated_since=2026-02-30T00:00:00Z": "updated_since: require a time such as",
		"clusters?limit=0":                         "limit",
		"clusters?limit=1001":                      "limit",
		"clusters?name=%00":                        "name: must not contain NUL",
		"clusters?name=%ff":                        "name: require valid UTF-8 without NUL",
		"clusters?tag=a&tag=%00":                   "tag: require valid UTF-8 without NUL",
		"hosts?status=ready":                       "status: require a status of hosts, such as known, found",
		"hosts?role=bootstrap":                     "role",
		"hosts?label==a":                           "label: require NAME or NAME=VALUE, found",
		"hosts?label=a=1,a=2":                      "label: require one value of a, found",
		"hosts?with_inventory=perhaps":             "with_inventory: require true or false, found",
		"hosts?cluster_id=none":                    "cluster_id: require a UUID, found",
		"events?severity=info&severity=loud":       "severity: require info, warning, error or critical, found",
		"events?since=2026-13-01T00:00:00Z":        "since: require the format date-time",
		"events?host_id=none":                      "host_id: require a UUID, found",
		"events?limit=5000":                        "limit",
		"clusters?status=installed&status=%0":      "",
	} {
		r := s.send(http.MethodGet, "/api/slipway/v1/"+query, nil)
		if reason == "" {
			require.Less(t, r.Status, 500, query)
			continue
		}
		require.Equal(t, http.StatusBadRequest, r.Status, "%s: %s", query, r.Body)
		require.Contains(t, r.Object()["reason"], reason, query)
	}
	for _, query := range []string{"hosts?cluster_id=" + uuid.NewString(), "hosts?infra_env_id=" + uuid.NewString()} {
		s.want(http.StatusNotFound, http.MethodGet, "/api/slipway/v1/"+query, nil)
	}
}

func TestPagesShowWhatTheListsOfV2Show(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	w := &fixture{l.service}
	single := l.cluster(map[string]any{"name": "sno", "high_availability_mode": "None"})
	for _, c := range []uuid.UUID{single.ID, l.cluster(nil).ID} {
		env := l.infraEnv(c)
		for n := range 2 {
			h := l.host(env.ID)
			l.changeHost(env.ID, h.ID, func(h *model.Host) { h.Role, h.Bootstrap = model.RoleMaster, n == 0 })
		}
		w.plant(admission.Object{ClusterID: c})
	}
	list := func(path string, user []string) (all []map[string]any) {
		l.closed.want(http.StatusOK, http.MethodGet, path, nil, user...).JSON(&all)
		return all
	}
	moment := func(all []map[string]any) []map[string]any { // without when an agent asked for steps
		for _, one := range all {
			delete(one, "checked_in_at")
		}
		return all
	}
	secrets := map[string]bool{}
	for name, user := range map[string][]string{"admin": l.as("root", "", auth.RoleAdmin), "viewer": l.as("vic", "", auth.RoleViewer)} {
		clusters := l.closed.page("clusters?", user...).Clusters
		require.Len(t, clusters, 2)
		require.Equal(t, list("/v2/clusters", user), clusters, name)
		env := uuid.MustParse(list(clusterPath(single.ID)+"/hosts", user)[0]["infra_env_id"].(string))
		small := l.closed.page("hosts?cluster_id="+single.ID.String(), user...).Hosts
		require.Len(t, small, 2)
		require.NotContains(t, small[0], "inventory")
		require.Equal(t, moment(list(clusterPath(single.ID)+"/hosts", user)), moment(small), name)
		whole := l.closed.page("hosts?with_inventory=true&with_connectivity=true&infra_env_id="+env.String(), user...).Hosts
		require.Contains(t, whole[0], "inventory")
		require.Equal(t, moment(list("/v2/infra-envs/"+env.String()+"/hosts", user)), moment(whole), name)
		require.Len(t, l.closed.page("hosts?", user...).Hosts, 4)
		text, err := json.Marshal([]any{clusters, small, whole})
		require.NoError(t, err)
		secrets[name] = strings.Contains(string(text), canary)
	}
	require.Equal(t, map[string]bool{"admin": true, "viewer": false}, secrets)
}

func TestListsInPagesAreOfTheirTenant(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	ann, bob, eve := l.as("ann", "acme", auth.RoleUser), l.as("bob", "acme", auth.RoleUser), l.as("eve", "evil", auth.RoleUser)
	vic, root := l.as("vic", "", auth.RoleViewer), l.as("root", "", auth.RoleAdmin)
	objects := map[string][2]string{} // of ann and eve: a cluster and an InfraEnv
	for name, user := range map[string][]string{"ann": ann, "eve": eve} {
		c := l.closed.want(http.StatusCreated, http.MethodPost, "/v2/clusters", clusterParams("of-"+name), user...).Object()
		body := map[string]any{"name": "env-" + name, "pull_secret": pullSecret, "cluster_id": c["id"]}
		e := l.closed.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", body, user...).Object()
		objects[name] = [2]string{c["id"].(string), e["id"].(string)}
		h := l.host(uuid.MustParse(e["id"].(string)))
		l.changeHost(h.InfraEnvID, h.ID, func(h *model.Host) { h.RequestedHostname = "host-" + name })
		id := uuid.MustParse(c["id"].(string))
		l.tell(id, nil, "event of "+name)
	}
	for name, asked := range map[string]struct {
		user []string
		of   []string
	}{
		"ann": {ann, []string{"ann"}}, "bob": {bob, []string{"ann"}}, "eve": {eve, []string{"eve"}},
		"vic": {vic, []string{"ann", "eve"}}, "root": {root, []string{"ann", "eve"}},
	} {
		require.Len(t, l.closed.page("clusters?", asked.user...).Clusters, len(asked.of), name)
		require.Len(t, l.closed.page("hosts?", asked.user...).Hosts, len(asked.of), name)
		for _, list := range []string{"clusters?", "hosts?", "events?limit=1000"} {
			text := string(l.closed.want(http.StatusOK, http.MethodGet, "/api/slipway/v1/"+list, nil, asked.user...).Body)
			for _, owner := range []string{"ann", "eve"} {
				require.Equal(t, slices.Contains(asked.of, owner), strings.Contains(text, "of-"+owner) ||
					strings.Contains(text, "host-"+owner) || strings.Contains(text, "event of "+owner), "%s %s %s", name, list, owner)
			}
		}
		for owner, ids := range objects {
			status := http.StatusNotFound
			if slices.Contains(asked.of, owner) {
				status = http.StatusOK
			}
			for _, query := range []string{
				"hosts?cluster_id=" + ids[0], "hosts?infra_env_id=" + ids[1], "events?cluster_id=" + ids[0], "events?infra_env_id=" + ids[1],
			} {
				l.closed.want(status, http.MethodGet, "/api/slipway/v1/"+query, nil, asked.user...)
			}
		}
	}
	// The token of one tenant gives nothing of it to another.
	l.closed.want(http.StatusCreated, http.MethodPost, "/v2/clusters", clusterParams("second-of-ann"), ann...)
	token := l.closed.page("clusters?limit=1", ann...).Next
	require.NotEmpty(t, token)
	for _, one := range l.closed.page("clusters?page_token="+token, eve...).Clusters {
		require.Equal(t, "of-eve", one["name"])
	}
}

func TestPageTokensAreOfTheirList(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"name": "lab"})
	s.cluster(map[string]any{"name": "lab"})
	env := s.infraEnv(c.ID)
	s.host(env.ID)
	s.host(env.ID)
	token := s.page("clusters?limit=1&name=lab&status=pending-for-input&status=ready").Next
	hostToken, eventToken := s.page("hosts?limit=1").Next, s.page("events?limit=1").Next
	for _, one := range []string{token, hostToken, eventToken} {
		require.NotEmpty(t, one)
		require.LessOrEqual(t, len(one), 64)
	}
	// The same filters in another order, and pages of another size.
	require.Len(t, s.page("clusters?status=ready,pending-for-input&name=lab&limit=7&page_token="+token).Clusters, 1)
	require.Len(t, s.page("hosts?with_inventory=true&page_token="+hostToken).Hosts, 1)
	raw, err := base64.RawURLEncoding.DecodeString(token)
	require.NoError(t, err)
	changed := func(at int, to byte) string {
		other := slices.Clone(raw)
		other[at] = to
		return base64.RawURLEncoding.EncodeToString(other)
	}
	own := "clusters?name=lab&status=pending-for-input&status=ready&page_token="
	const broken, other = "page_token: require next_page_token of an answer", "page_token: require the filters of the answer that it is from"
	for query, reason := range map[string]string{
		own + "x":                                   broken,
		own + url.QueryEscape("ÿ=="):                broken,
		own + token[1:]:                             broken,
		own + token + "AAAA":                        broken,
		own + changed(0, 2):                         broken, // of another form
		own + changed(9, 0xff):                      broken, // of no time
		own + changed(3, raw[3]+1):                  other,
		own + strings.Repeat("A", 65):               "page_token",
		own + hostToken:                             other,
		own + eventToken:                            broken,
		"clusters?page_token=" + token:              other,
		"clusters?name=la&page_token=" + token:      other,
		own + token + "&tag=a":                      other,
		"hosts?page_token=" + token:                 other,
		"hosts?role=master&page_token=" + hostToken: other,
		"hosts?cluster_id=" + c.ID.String() + "&page_token=" + hostToken: other,
		"events?severity=info&page_token=" + eventToken:                  other,
		"events?page_token=" + hostToken:                                 broken,
	} {
		r := s.send(http.MethodGet, "/api/slipway/v1/"+query, nil)
		require.Equal(t, http.StatusBadRequest, r.Status, "%s: %s", query, r.Body)
		require.Contains(t, r.Object()["reason"], reason, query)
	}
}

func TestPagesOfEventsVisitEachOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c, other := s.cluster(nil), s.cluster(map[string]any{"name": "other"})
	env := s.infraEnv(c.ID)
	h := s.host(env.ID)
	began := time.Now().UTC().Truncate(time.Microsecond)
	_, err := s.store.UpdateHost(t.Context(), env.ID, h.ID, func(_ *model.Host, tx *store.Tx) error {
		for n := range 11 {
			event := model.Event{
				Name: "event", Category: "user", Severity: model.SeverityWarning, ClusterID: &c.ID, At: tx.Now(), Message: fmt.Sprint("event ", n),
			}
			if n%2 == 0 {
				event.HostID, event.Severity = &h.ID, model.SeverityError
			}
			tx.Event(event)
		}
		return nil
	})
	require.NoError(t, err)
	of := "events?cluster_id=" + c.ID.String() + "&limit=4"
	seen := map[string]int{}
	for _, one := range texts(s.walk(of+"&severity=warning,error&since="+began.Format(time.RFC3339Nano), func([]map[string]any) {
		s.tell(c.ID, nil, "later")
	}), "message") {
		seen[one]++
	}
	for n := range 11 {
		require.Equal(t, 1, seen[fmt.Sprint("event ", n)], n)
	}
	require.Zero(t, seen["later"], "pages of one walk end where it began")
	require.Equal(t, []string{"event 10", "event 8", "event 6", "event 4", "event 2", "event 0"},
		texts(s.walk("events?limit=2&severity=error&host_id="+h.ID.String(), nothing), "message"))
	for _, one := range s.walk("events?limit=3&cluster_id="+other.ID.String(), nothing) {
		require.Equal(t, other.ID.String(), one["cluster_id"])
	}
	var v2 []map[string]any
	s.want(http.StatusOK, http.MethodGet, "/v2/events?order=descending&cluster_id="+c.ID.String(), nil).JSON(&v2)
	require.Equal(t, v2, s.walk(of, nothing))
}
