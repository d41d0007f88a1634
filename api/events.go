package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/events"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// countHeaders tell a pager how many events there are beyond its page; a browser shows
// them to a page of another origin only when they are named.
var countHeaders = []struct {
	header   string
	severity model.Severity
}{
	{"Severity-Count-Info", model.SeverityInfo},
	{"Severity-Count-Warning", model.SeverityWarning},
	{"Severity-Count-Error", model.SeverityError},
	{"Severity-Count-Critical", model.SeverityCritical},
}

// V2ListEvents reads a page of the history, oldest first unless asked otherwise.
func (s *server) V2ListEvents(w http.ResponseWriter, r *http.Request, params wire.V2ListEventsParams) error {
	ctx, filter := r.Context(), eventFilter(r, params)
	counts, err := s.Store.CountEvents(ctx, filter)
	if err != nil {
		return err
	}
	exposed := []string{"Event-Count"}
	w.Header().Set("Event-Count", strconv.Itoa(counts.Total))
	for _, c := range countHeaders {
		w.Header().Set(c.header, strconv.Itoa(counts.BySeverity[c.severity]))
		exposed = append(exposed, c.header)
	}
	w.Header().Set("Access-Control-Expose-Headers", strings.Join(exposed, ", "))
	return stream(s, w, r, func(yield func(wire.Event) error) error {
		return s.Store.EachEvent(ctx, filter, func(e model.Event) error { return yield(eventToWire(e)) })
	})
}

func eventFilter(r *http.Request, p wire.V2ListEventsParams) store.EventFilter {
	f := store.EventFilter{
		ClusterID: p.ClusterID, InfraEnvID: p.InfraEnvID, HostIDs: p.HostIds, Message: p.Message, Categories: p.Categories,
		Descending: p.Order == wire.Descending, Limit: max(p.Limit, 0), Offset: max(p.Offset, 0), Tenant: admission.Tenant(r),
	}
	if caller := admission.CallerOf(r); caller.Bound() && p.ClusterID == uuid.Nil {
		// The ids of a bound caller were checked; without ids it sees its own object.
		f.ClusterID, f.InfraEnvID = caller.ClusterID, caller.InfraEnvID
	}
	if p.HostID != uuid.Nil {
		f.HostIDs = append(f.HostIDs, p.HostID)
	}
	for _, severity := range p.Severities {
		f.Severities = append(f.Severities, string(severity))
	}
	query := r.URL.Query() // false and absent are different things
	if query.Has("cluster_level") {
		f.ClusterLevel = &p.ClusterLevel
	}
	if query.Has("deleted_hosts") {
		f.DeletedHosts = &p.DeletedHosts
	}
	return f
}

func eventToWire(e model.Event) wire.Event {
	out := wire.Event{
		Name: e.Name, Category: wire.EventCategory(e.Category), Severity: wire.EventSeverity(e.Severity),
		ClusterID: deref(e.ClusterID), HostID: deref(e.HostID), InfraEnvID: deref(e.InfraEnvID), RequestID: deref(e.RequestID),
		Message: e.Message, EventTime: wire.DateTime(e.At),
	}
	if len(e.Props) > 0 {
		out.Props = wire.Text(e.Props)
	}
	return out
}

// V2TriggerEvent adds a controller's report to the history of its cluster.
func (s *server) V2TriggerEvent(w http.ResponseWriter, r *http.Request) error {
	var params wire.Event
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	if params.ClusterID == uuid.Nil && params.InfraEnvID == uuid.Nil {
		return model.Invalidf("cluster_id or infra_env_id is required")
	}
	if err := s.gate.MayTouch(r.Context(), admission.CallerOf(r), admission.Object{
		ClusterID: params.ClusterID, InfraEnvID: params.InfraEnvID, HostID: params.HostID,
	}); err != nil {
		return err
	}
	if err := s.eventSubject(r, params); err != nil {
		return err
	}
	if name := events.Name(params.Name); admission.CallerOf(r).Role == auth.RoleController && !events.Known(name) {
		return model.Invalidf("name: require an event of the catalogue, found %q", params.Name)
	}
	decision, err := s.decision(r, params)
	if err != nil {
		return err
	}
	err = s.Store.Write(r.Context(), func(tx *store.Tx) error {
		tx.Event(eventFromWire(params, tx.Now()))
		if decision != nil {
			tx.Audit(*decision)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return created(w, nil)
}

// eventSubject makes sure that the objects of an event exist, and that its host belongs to them.
func (s *server) eventSubject(r *http.Request, p wire.Event) error {
	if p.ClusterID != uuid.Nil {
		c, err := s.Store.Cluster(r.Context(), p.ClusterID)
		if err != nil || p.HostID == uuid.Nil {
			return err
		}
		_, err = s.hostOfCluster(r.Context(), c, p.InfraEnvID, p.HostID)
		return err
	}
	_, err := s.Store.InfraEnv(r.Context(), p.InfraEnvID)
	if err == nil && p.HostID != uuid.Nil {
		_, err = s.Store.Host(r.Context(), p.InfraEnvID, p.HostID)
	}
	return err
}

func eventFromWire(p wire.Event, now time.Time) model.Event {
	e := model.Event{
		Name: or(p.Name, "event"), Category: or(string(p.Category), "user"), Severity: model.Severity(p.Severity),
		ClusterID: idOrNil(p.ClusterID), HostID: idOrNil(p.HostID), InfraEnvID: idOrNil(p.InfraEnvID), RequestID: idOrNil(p.RequestID),
		Message: p.Message, At: p.EventTime.Time(),
	}
	if e.At.IsZero() || e.At.After(now) {
		e.At = now // the clock of a new node may be wrong
	}
	if p.Props != "" && json.Unmarshal([]byte(p.Props), &e.Props) != nil {
		e.Props = map[string]any{"props": p.Props}
	}
	return e
}
