package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/store"
)

// Object holds the ids of the resources an operation acts on; an id is zero when the address has none.
type Object struct {
	ClusterID, InfraEnvID, HostID uuid.UUID
}

// objectOf reads the ids in the path of a request, and the query parameters of its operation that are ids. Other query
// parameters are ignored: the operation does not act on them.
func objectOf(r *http.Request, o *operation) Object {
	query := r.URL.Query()
	id := func(name string) uuid.UUID {
		text := chi.URLParam(r, name)
		if text == "" && slices.ContainsFunc(o.params, func(p *openapi3.Parameter) bool { return p.Name == name }) {
			text = query.Get(name)
		}
		parsed, _ := uuid.Parse(text) // the handler refuses an invalid id
		return parsed
	}
	return Object{id("cluster_id"), id("infra_env_id"), id("host_id")}
}

// selfScoped are operations without an object in their address that bound callers may use: their handlers check that the
// request concerns the caller's object.
var selfScoped = map[string]bool{
	"v2ListEvents":   true, // the list holds only events of the caller's object
	"v2TriggerEvent": true, // the object is in the body
}

// checkScope checks that the ids in the address are those of a caller that is bound to one object. An agent may also
// use the clusters of the hosts of its InfraEnv, because it installs them. An address without an object is denied.
func (s *server) checkScope(ctx context.Context, actor Actor, operation string, o Object) error {
	if actor.Bound() && o.ClusterID == uuid.Nil && o.InfraEnvID == uuid.Nil && !selfScoped[operation] {
		return httpapi.Errorf(httpapi.ErrForbidden, "require a credential that is not bound to one object for %s", operation)
	}
	return s.mayTouch(ctx, actor, o)
}

// mayTouch returns an error for an object that is not the bound caller's own.
func (s *server) mayTouch(ctx context.Context, caller Actor, o Object) error {
	if !caller.Bound() {
		return nil
	}
	for _, pair := range []struct {
		what       string
		found, own uuid.UUID
		infraEnvID uuid.UUID
		clusterID  uuid.UUID
	}{
		{"infra-env", o.InfraEnvID, caller.InfraEnvID, o.InfraEnvID, caller.ClusterID},
		{"cluster", o.ClusterID, caller.ClusterID, caller.InfraEnvID, o.ClusterID},
	} {
		if pair.found == uuid.Nil || pair.found == pair.own {
			continue
		}
		related := false
		if pair.own == uuid.Nil && caller.Scheme == auth.SchemeAgent {
			var err error
			if related, err = s.Store.Related(ctx, pair.infraEnvID, pair.clusterID); err != nil {
				return err
			}
		}
		if !related {
			return httpapi.Errorf(httpapi.ErrForbidden, "%s %s is not open to this credential", pair.what, pair.found)
		}
	}
	return nil
}

// tenant limits lists to the resources that the caller of a request may read.
func tenant(r *http.Request) store.Tenant {
	caller := callerOf(r)
	switch {
	case caller.Admin:
		return store.Tenant{}
	case caller.OrgID != "":
		return store.Tenant{OrgID: caller.OrgID}
	}
	return store.Tenant{Owner: caller.Name}
}
