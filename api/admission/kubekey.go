package admission

import (
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// KubeKey returns the resource of Kubernetes that a request is made for; zero: none.
func KubeKey(r *http.Request) (model.KubeKey, error) {
	text := r.Header.Get(wire.HeaderKubeKey)
	if text == "" {
		return model.KubeKey{}, nil
	}
	key, err := model.ParseKubeKey(text)
	if err != nil {
		return key, fmt.Errorf("header %s: %w", wire.HeaderKubeKey, err)
	}
	return key, nil
}

// checkDefines refuses to change what a resource of Kubernetes defines, except for the resource.
func (g *Gate) checkDefines(r *http.Request, o Object) error {
	defined, err := g.o.Store.KubeKey(r.Context(), o.ClusterID, o.InfraEnvID, o.HostID)
	if err != nil || defined == (model.KubeKey{}) {
		return err
	}
	key, err := KubeKey(r)
	if err != nil || key == defined {
		return err
	}
	kind, what := "ClusterDeployment", "cluster "+o.ClusterID.String()
	switch {
	case o.HostID != uuid.Nil:
		kind, what = "Agent", "host "+o.HostID.String()
	case o.InfraEnvID != uuid.Nil:
		kind, what = "InfraEnv", "infra-env "+o.InfraEnvID.String()
	}
	return model.Conflictf("%s is defined by %s %s of Kubernetes: change that resource", what, kind, defined)
}
