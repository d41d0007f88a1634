package admission

import (
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
)

// recorded reports whether a request is in the audit: commands of users, and reads of secrets by users and by addresses of a cluster's
// files. Machines are not, and in mode none, where they are unknown, operations that only machines do.
func (g *Gate) recorded(r *http.Request, o *operation, caller Caller) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	rule := rules[o.id]
	switch {
	case reads && !rule.secrets:
		return false
	case caller.Role == auth.RoleAddress:
		return reads && caller.ClusterID != uuid.Nil
	case r.URL.Query().Has(SignatureParam):
		return reads && objectOf(r, o).ClusterID != uuid.Nil
	case g.o.Identity.Open():
		return slices.Contains(rule.roles, Anyone.Role)
	}
	return caller.User()
}

// entryOf returns the row of a request. It holds ids and names of the API document, and no other value of the caller.
func (g *Gate) entryOf(r *http.Request, o *operation, caller Caller) model.AuditEntry {
	credential := model.AuditToken
	switch {
	case caller.Role == auth.RoleAddress:
		credential, caller.Name = model.AuditAddress, ""
	case r.URL.Query().Has(SignatureParam):
		credential, caller = model.AuditAddress, Caller{Role: auth.RoleAddress}
	case g.o.Identity.Open():
		credential = model.AuditNone
	case caller.Issuer != "":
		credential = model.AuditOIDC
	}
	e := audit.Entry(r, caller, credential)
	e.Operation, e.Path, e.RequestID = o.id, chi.RouteContext(r.Context()).RoutePattern(), httpapi.About(r).ID
	object := objectOf(r, o)
	e.ClusterID, e.InfraEnvID, e.HostID = idOrNil(object.ClusterID), idOrNil(object.InfraEnvID), idOrNil(object.HostID)
	e.Subject = subjectOf(r, o)
	return e
}

func idOrNil(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

// subjectOf returns what a request is about beside cluster, InfraEnv and host: ids in its path, and values that the document lists.
func subjectOf(r *http.Request, o *operation) string {
	var found []string
	query := r.URL.Query()
	for _, p := range o.named {
		if p.In == openapi3.ParameterInQuery {
			if text := query.Get(p.Name); slices.Contains(p.Schema.Value.Enum, any(text)) {
				found = append(found, text)
			}
			continue
		}
		text := chi.URLParam(r, p.Name)
		id, err := uuid.Parse(text)
		switch {
		case slices.Contains(p.Schema.Value.Enum, any(text)):
			found = append(found, text)
		case err == nil && p.Schema.Value.Format == "uuid":
			found = append(found, id.String())
		}
	}
	return strings.Join(found, " ")
}

// namedParameters lists the parameters of an operation that subjectOf reads.
func namedParameters(o *openapi3.Operation) (named []*openapi3.Parameter) {
	for _, p := range o.Parameters {
		schema := p.Value.Schema.Value
		if len(schema.Enum) == 0 && (p.Value.In != openapi3.ParameterInPath || schema.Format != "uuid") {
			continue
		}
		if !slices.Contains([]string{"cluster_id", "infra_env_id", "host_id"}, p.Value.Name) {
			named = append(named, p.Value)
		}
	}
	return named
}

// record answers a request by next, in the audit where it belongs there.
func (g *Gate) record(w http.ResponseWriter, r *http.Request, o *operation, caller Caller, next http.Handler) {
	if !g.recorded(r, o, caller) {
		next.ServeHTTP(w, r)
		return
	}
	e := g.entryOf(r, o, caller)
	if err := g.o.Audit.Record(w, r, &e, next); err != nil {
		httpapi.Fail(w, r, httpapi.Errorf(model.ErrUnavailable, "the audit takes no row: %s", err))
	}
}

// refuse answers a request that does not reach its handler.
func (g *Gate) refuse(w http.ResponseWriter, r *http.Request, o *operation, caller Caller, refusal error) {
	if status := httpapi.Status(refusal); !httpapi.ServerFault(status) && g.recorded(r, o, caller) {
		e := g.entryOf(r, o, caller)
		g.o.Audit.Refused(r.Context(), &e, status)
	}
	httpapi.Fail(w, r, refusal)
}
