package api

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"
)

// Actor is who asks for an operation.
type Actor struct {
	Name  string
	Admin bool
}

// Object is what an operation acts on: the ids of its address, empty where it has none.
type Object struct {
	ClusterID, InfraEnvID, HostID string
}

// Authorize decides whether an actor may do an operation (an operationId) to an object.
// It returns ErrUnauthenticated or ErrForbidden to refuse.
type Authorize func(ctx context.Context, actor Actor, operation string, object Object) error

// anyone is the actor of mode none, where every credential, or none, is taken.
var anyone = Actor{Name: "admin", Admin: true}

func allowAll(context.Context, Actor, string, Object) error { return nil }

func (s *server) authorize(r *http.Request, operation string) error {
	return s.Authorize(r.Context(), anyone, operation, Object{
		ClusterID:  chi.URLParam(r, "cluster_id"),
		InfraEnvID: chi.URLParam(r, "infra_env_id"),
		HostID:     chi.URLParam(r, "host_id"),
	})
}
