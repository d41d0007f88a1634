package admission

import (
	"context"
	"net/http"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/store"
)

// Store reads which objects belong together.
type Store interface {
	HostAccess(ctx context.Context, infraEnvID, hostID uuid.UUID) (store.HostAccess, error)
	CheckTenant(ctx context.Context, tenant store.Tenant, clusterID, infraEnvID uuid.UUID) error
	KubeKey(ctx context.Context, clusterID, infraEnvID, hostID uuid.UUID) (model.KubeKey, error)
	Related(ctx context.Context, infraEnvID, clusterID uuid.UUID) (bool, error)
}

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

// checkScope checks that the ids in the address belong to a caller that is bound to an object. It denies such a caller an address
// without an object. Objects outside a caller's scope yield 404.
func (g *Gate) checkScope(ctx context.Context, caller Caller, operation string, o Object) error {
	if caller.Bound() && o.ClusterID == uuid.Nil && o.InfraEnvID == uuid.Nil && !rules[operation].selfScoped {
		return httpapi.Errorf(httpapi.ErrForbidden, "require a credential that is not bound to one object for %s", operation)
	}
	if caller.Role == auth.RoleRegistrar && rules[operation].reclaimed {
		if err := g.checkReclaimed(ctx, operation, o); err != nil {
			return err
		}
	}
	if caller.Role == auth.RoleAgent && caller.Bootstrap && operation == "v2UpdateHostInstallProgress" && o.HostID != caller.HostID {
		// The bootstrap host sees the others fetch their configs and join.
		return g.hostOfCaller(ctx, caller, o)
	}
	return g.MayTouch(ctx, caller, o)
}

func (g *Gate) checkReclaimed(ctx context.Context, operation string, o Object) error {
	host, err := g.o.Store.HostAccess(ctx, o.InfraEnvID, o.HostID)
	if err != nil {
		return err
	}
	unproven := operation == "v2GetNextSteps" && lifecycle.LeftItsImage(host.Status, host.Stage) // see answerUnproven
	if !lifecycle.Reclaimed.Has(host.Status) && !unproven {
		return httpapi.Errorf(httpapi.ErrUnauthenticated, "require the token of host %s itself: it has to register again", o.HostID)
	}
	return nil
}

// MayTouch returns an error for an object that is not the caller's own.
func (g *Gate) MayTouch(ctx context.Context, caller Caller, o Object) error {
	switch {
	case !caller.Bound() && caller.Admin, o == Object{}:
		return nil
	case !caller.Bound():
		return g.o.Store.CheckTenant(ctx, tenantOf(caller), o.ClusterID, o.InfraEnvID)
	}
	switch caller.Role {
	case auth.RoleController:
		if o.HostID != uuid.Nil && o.InfraEnvID != uuid.Nil {
			return g.hostOfCaller(ctx, caller, o)
		}
	case auth.RoleForeign:
		return g.foreignMayTouch(ctx, caller, o)
	}
	for _, pair := range []struct {
		what       string
		found, own uuid.UUID
	}{
		{"infra-env", o.InfraEnvID, caller.InfraEnvID},
		{"cluster", o.ClusterID, caller.ClusterID},
		{"host", o.HostID, caller.HostID},
	} {
		if pair.found == uuid.Nil || pair.found == pair.own || pair.what == "host" && caller.Role != auth.RoleAgent {
			continue
		}
		return unknown(pair.what, pair.found)
	}
	return nil
}

// unknown returns the error for an object outside the caller's scope.
func unknown(what string, id uuid.UUID) error {
	return model.NotFoundf("%s %s was not found", what, id)
}

// hostOfCaller checks that a host belongs to the cluster of the caller.
func (g *Gate) hostOfCaller(ctx context.Context, caller Caller, o Object) error {
	host, err := g.o.Store.HostAccess(ctx, o.InfraEnvID, o.HostID)
	if err != nil {
		return err
	}
	if caller.ClusterID == uuid.Nil || host.ClusterID != caller.ClusterID || o.ClusterID != uuid.Nil && o.ClusterID != caller.ClusterID {
		return unknown("host", o.HostID)
	}
	return nil
}

// foreignMayTouch follows the contract of the v2 API: the token of an InfraEnv opens it with all its hosts, and the clusters that they
// belong to. The token of a cluster opens the cluster and its hosts.
func (g *Gate) foreignMayTouch(ctx context.Context, caller Caller, o Object) error {
	for _, pair := range []struct {
		what                  string
		found, own            uuid.UUID
		infraEnvID, clusterID uuid.UUID
	}{
		{"infra-env", o.InfraEnvID, caller.InfraEnvID, o.InfraEnvID, caller.ClusterID},
		{"cluster", o.ClusterID, caller.ClusterID, caller.InfraEnvID, o.ClusterID},
	} {
		if pair.found == uuid.Nil || pair.found == pair.own {
			continue
		}
		if pair.own != uuid.Nil {
			return unknown(pair.what, pair.found)
		}
		related, err := g.o.Store.Related(ctx, pair.infraEnvID, pair.clusterID)
		if err != nil {
			return err
		}
		if !related {
			return unknown(pair.what, pair.found)
		}
	}
	return nil
}

// Tenant limits lists to the resources that the caller of a request may read.
func Tenant(r *http.Request) store.Tenant { return tenantOf(CallerOf(r)) }

func tenantOf(caller Caller) store.Tenant {
	switch {
	case caller.Admin:
		return store.Tenant{}
	case caller.OrgID != "":
		return store.Tenant{OrgID: caller.OrgID}
	}
	return store.Tenant{Owner: caller.Name}
}
