package api

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/answers"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// findClusters lists a page of clusters as the v2 API shows them, without their hosts, newest first.
func (s *server) findClusters(w http.ResponseWriter, r *http.Request) error {
	q := newPageQuery(r)
	filter := store.ClusterFilter{
		Tenant: admission.Tenant(r), Statuses: members[wire.ClusterStatus](q, "status", "a status of clusters, such as ready"),
		Name: q.text("name"), Tags: q.list("tag"), UpdatedSince: q.time("updated_since"),
	}
	p := newPaged(q)
	filter.After, filter.Limit = q.place(), p.limit+1
	if q.err != nil {
		return q.err
	}
	if same, err := s.unchanged(w, r, store.Reading{}); same || err != nil {
		return err
	}
	return s.respondPage(w, r, p, "clusters", func(yield func(json.RawMessage) error) error { return s.clusterPage(r, filter, p, yield) })
}

// clusterPage calls yield with the JSON of each cluster of a page, valid until the next one. Clusters are read before what is counted for
// them, which would take a second connection of the pool meanwhile.
func (s *server) clusterPage(r *http.Request, filter store.ClusterFilter, p *paged, yield func(json.RawMessage) error) error {
	var page []keptCluster
	var ids []uuid.UUID
	err := s.Store.ShownClusters(r.Context(), filter, func(c *model.Cluster, kept []byte) error {
		if p.takes(placeKey(c.CreatedAt, c.ID)) {
			page, ids = append(page, keptCluster{cluster: c, kept: kept}), append(ids, c.ID)
		}
		return nil
	})
	if err != nil || len(page) == 0 {
		return err
	}
	view, err := s.clusterViews(r, ids...)
	if err != nil {
		return err
	}
	var text []byte
	for _, one := range page {
		if text, err = answers.AppendCluster(text[:0], one.cluster, one.kept, view(one.cluster)); err != nil {
			return err
		}
		if err := yield(append(answers.Open(text), noHosts...)); err != nil {
			return err
		}
	}
	return nil
}

// findHosts lists a page of hosts as the v2 API shows them, in the order of their registration.
func (s *server) findHosts(w http.ResponseWriter, r *http.Request) error {
	q := newPageQuery(r)
	filter, view := hostQuery(r, q)
	p := newPaged(q)
	filter.After, filter.Limit = q.place(), p.limit+1
	if q.err != nil {
		return q.err
	}
	if err := s.hostsExist(r, filter); err != nil {
		return err
	}
	of := store.Reading{ClusterID: filter.ClusterID, InfraEnvID: filter.InfraEnvID}
	if same, err := s.unchanged(w, r, of); same || err != nil {
		return err
	}
	return s.respondPage(w, r, p, "hosts", func(yield func(json.RawMessage) error) error {
		single, err := s.Store.SingleNodeClusters(r.Context(), filter.InfraEnvID)
		if err != nil {
			return err
		}
		var text []byte
		return s.Store.ShownHosts(r.Context(), filter, func(h *model.Host, kept, inventory []byte) (err error) {
			if !p.takes(placeKey(h.CreatedAt, h.ID)) {
				return nil
			}
			view.SingleNode = single[deref(h.ClusterID)]
			if text, err = answers.AppendHost(text[:0], h, kept, inventory, view); err != nil {
				return err
			}
			return yield(text)
		})
	})
}

// hostQuery reads the filters of a list of hosts, and how much of them is shown.
func hostQuery(r *http.Request, q *pageQuery) (store.HostFilter, answers.HostView) {
	view := answers.HostView{
		Inventory: q.flag("with_inventory"), Connectivity: q.flag("with_connectivity"), Secrets: readsSecrets(r),
	}
	filter := store.HostFilter{
		ClusterID: q.id("cluster_id"), InfraEnvID: q.id("infra_env_id"), Tenant: admission.Tenant(r),
		Connectivity: view.Connectivity, Inventory: view.Inventory,
		Statuses: members[wire.HostStatus](q, "status", "a status of hosts, such as known"),
		Roles:    members[wire.HostRole](q, "role", "auto-assign, master, arbiter or worker"),
		Name:     q.text("name"), UpdatedSince: q.time("updated_since"), Labels: map[string]string{},
	}
	for _, label := range q.list("label") {
		name, value, valued := strings.Cut(label, "=")
		before, twice := filter.Labels[name]
		switch {
		case name == "":
			q.refuse("label", "NAME or NAME=VALUE", label)
		case !valued:
			filter.LabelNames = append(filter.LabelNames, name)
		case twice:
			q.refuse("label", "one value of "+name, before+","+value)
		default:
			filter.Labels[name] = value
		}
	}
	return filter, view
}

// hostsExist makes sure that the cluster and the InfraEnv of a filter exist.
func (s *server) hostsExist(r *http.Request, filter store.HostFilter) error {
	if filter.ClusterID != uuid.Nil {
		if _, err := s.Store.Cluster(r.Context(), filter.ClusterID); err != nil {
			return err
		}
	}
	if filter.InfraEnvID != uuid.Nil {
		if _, err := s.Store.InfraEnv(r.Context(), filter.InfraEnvID); err != nil {
			return err
		}
	}
	return nil
}

// findEvents lists a page of events as the v2 API shows them, newest first.
func (s *server) findEvents(w http.ResponseWriter, r *http.Request) error {
	q := newPageQuery(r)
	filter := store.EventFilter{
		ClusterID: q.id("cluster_id"), InfraEnvID: q.id("infra_env_id"), HostID: q.id("host_id"), Since: q.time("since"),
		Severities: members[wire.EventSeverity](q, "severity", "info, warning, error or critical"),
		Descending: true, Tenant: admission.Tenant(r),
	}
	p := newPaged(q)
	filter.Before, filter.Limit = q.before(), p.limit+1
	if q.err != nil {
		return q.err
	}
	return s.respondPage(w, r, p, "events", func(yield func(json.RawMessage) error) error {
		return s.Store.EachEvent(r.Context(), filter, func(e model.Event) error {
			if !p.takes(eventKey(e.ID)) {
				return nil
			}
			text, err := json.Marshal(eventToWire(e))
			if err != nil {
				return err
			}
			return yield(text)
		})
	})
}

// paged counts the items of a page. One more than its limit is read, which shows that there is a next page.
type paged struct {
	query *pageQuery
	limit int
	taken int
	last  []byte // sort key of the last item
	more  bool
}

func newPaged(q *pageQuery) *paged { return &paged{query: q, limit: q.limit()} }

// takes reports whether an item belongs to the page.
func (p *paged) takes(key []byte) bool {
	if p.taken == p.limit {
		p.more = true
		return false
	}
	p.taken++
	p.last = key
	return true
}

// respondPage answers with an object that has the items of a page, and the token of the next one.
func (s *server) respondPage(
	w http.ResponseWriter, r *http.Request, p *paged, items string, list func(yield func(json.RawMessage) error) error,
) error {
	return s.respond(http.StatusOK, w, r, func(out io.Writer) error {
		if _, err := io.WriteString(out, `{"`+items+`":`); err != nil {
			return err
		}
		if err := array(out, list); err != nil {
			return err
		}
		end := "}\n"
		if p.more {
			end = `,"next_page_token":"` + p.query.token(p.last) + `"` + end
		}
		_, err := io.WriteString(out, end)
		return err
	})
}
