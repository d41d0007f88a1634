package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/events"
	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// auditPage is how many rows of the audit an answer has without a limit.
const auditPage = 100

// listAudit lists what users did: all rows for administrators, their own for the others.
func (s *server) listAudit(w http.ResponseWriter, r *http.Request) error {
	filter, err := auditFilter(r)
	if err != nil {
		return err
	}
	wanted := filter.Limit
	filter.Limit++ // one more shows that there is another page
	entries, err := s.Store.AuditEntries(r.Context(), filter)
	if err != nil {
		return err
	}
	out := wire.Audit{Entries: make([]wire.AuditEntry, 0, len(entries))}
	for i := range entries[:min(wanted, len(entries))] {
		out.Entries = append(out.Entries, auditToWire(&entries[i]))
	}
	if len(entries) > wanted {
		out.NextPageToken = strconv.FormatInt(entries[wanted-1].ID, 10)
	}
	return ok(w, out)
}

func auditFilter(r *http.Request) (f store.AuditFilter, err error) {
	query, caller := r.URL.Query(), admission.CallerOf(r)
	f = store.AuditFilter{
		User: query.Get("user"), Operation: query.Get("operation"), Outcome: model.AuditOutcome(query.Get("outcome")), Limit: auditPage,
	}
	if caller.Role != auth.RoleAdmin {
		f.Own = &store.TokenFilter{UserName: caller.Name, OrgID: caller.OrgID}
	}
	for name, into := range map[string]*uuid.UUID{"cluster_id": &f.ClusterID, "infra_env_id": &f.InfraEnvID, "host_id": &f.HostID} {
		if text := query.Get(name); text != "" {
			if *into, err = uuid.Parse(text); err != nil {
				return f, model.Invalidf("%s: require a UUID, found %q", name, text)
			}
		}
	}
	for name, into := range map[string]*time.Time{"since": &f.Since, "until": &f.Until} {
		if text := query.Get(name); text != "" {
			if *into, err = time.Parse(time.RFC3339, text); err != nil {
				return f, model.Invalidf("%s: require a time such as 2026-11-29T08:00:00Z, found %q", name, text)
			}
		}
	}
	if text := query.Get("limit"); text != "" {
		f.Limit, _ = strconv.Atoi(text) // held against the document
	}
	if text := query.Get("page_token"); text != "" {
		if f.Before, err = strconv.ParseInt(text, 10, 64); err != nil || f.Before <= 0 {
			return f, model.Invalidf("page_token: require next_page_token of an answer, found %q", text)
		}
	}
	return f, nil
}

// decisions are events whose senders decide about who joins a cluster.
var decisions = map[events.Name]model.AuditOutcome{
	events.CertificateRequestApproved: model.AuditOK, events.CertificateRequestNotApproved: model.AuditRefused,
}

// decision returns the row of an event that says what a controller has decided; nil for another event.
func (s *server) decision(r *http.Request, p wire.Event) (*model.AuditEntry, error) {
	outcome, decides := decisions[events.Name(p.Name)]
	if !decides || p.ClusterID == uuid.Nil {
		return nil, nil //nolint:nilnil // another event
	}
	c, err := s.Store.Cluster(r.Context(), p.ClusterID)
	if err != nil {
		return nil, err
	}
	e := audit.Entry(r, admission.CallerOf(r), model.AuditMachine)
	e.UserName, e.OrgID, e.ClusterID = "controller of cluster "+c.Name, c.OrgID, &c.ID
	e.Operation, e.Detail, e.RequestID, e.Outcome = p.Name, p.Message, httpapi.About(r).ID, outcome
	e.Method, e.TokenID = "", nil
	var props map[string]any
	if p.Props != "" && json.Unmarshal([]byte(p.Props), &props) == nil {
		e.Subject, _ = props[wire.PropCertificateRequest].(string)
	}
	return &e, nil
}

func auditToWire(e *model.AuditEntry) wire.AuditEntry {
	out := wire.AuditEntry{
		ID: e.ID, At: wire.DateTime(e.At), UserName: e.UserName, Credential: string(e.Credential), TokenID: e.TokenID, OrgID: e.OrgID,
		Role: e.Role, Address: e.Address, Operation: e.Operation, Method: e.Method, Path: e.Path, Subject: e.Subject,
		ClusterID: e.ClusterID, InfraEnvID: e.InfraEnvID, HostID: e.HostID, RequestID: e.RequestID, Detail: e.Detail,
		Outcome: string(e.Outcome), Status: e.Status,
	}
	if !e.EndedAt.IsZero() {
		ended := wire.DateTime(e.EndedAt)
		out.EndedAt = &ended
	}
	return out
}
