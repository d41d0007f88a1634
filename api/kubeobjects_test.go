package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/wire"
)

const kubeObjectsPath = "/api/slipway/v1/kube-objects"

func kubeKey(key string) []string { return []string{"Slipway-Kube-Key", key} }

func TestWhatAResourceDefinesIsChangedByTheResourceOnly(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var c wire.Cluster
	s.want(http.StatusCreated, http.MethodPost, "/v2/clusters", clusterParams("prod"), kubeKey("one/prod")...).JSON(&c)
	var e wire.InfraEnv
	body := map[string]any{"name": "env", "pull_secret": pullSecret, "cluster_id": c.ID}
	s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", body, kubeKey("one/env")...).JSON(&e)
	h := s.host(e.ID)

	var objects []wire.KubeObject
	s.want(http.StatusOK, http.MethodGet, kubeObjectsPath, nil).JSON(&objects)
	require.Equal(t, []wire.KubeObject{
		{Kind: "cluster", ID: c.ID, Namespace: "one", Name: "prod"}, {Kind: "infra-env", ID: e.ID, Namespace: "one", Name: "env"},
	}, objects)

	for name, o := range map[string]struct {
		call
		key, refusal string
		done         int
	}{
		"a cluster": {
			call{method: http.MethodPatch, path: clusterPath(c.ID), body: map[string]any{"name": "other"}},
			"one/prod",
			"cluster " + c.ID.String() + " is defined by ClusterDeployment one/prod of Kubernetes: change that resource", 201,
		},
		"a manifest": {
			call{
				method: http.MethodPost, path: clusterPath(c.ID) + "/manifests",
				body: map[string]any{"folder": "openshift", "file_name": "a.yaml", "content": "a2luZDogQQo="},
			}, "one/prod", "ClusterDeployment one/prod", 201,
		},
		"an InfraEnv": {
			call{method: http.MethodPatch, path: envPath(e.ID), body: map[string]any{"ssh_authorized_key": ""}},
			"one/env",
			"infra-env " + e.ID.String() + " is defined by InfraEnv one/env of Kubernetes: change that resource", 201,
		},
		"a host": {
			call{method: http.MethodPatch, path: hostPath(e.ID, h.ID), body: map[string]any{"host_name": "a"}},
			"one/" + h.ID.String(),
			"host " + h.ID.String() + " is defined by Agent one/" + h.ID.String() + " of Kubernetes: change that resource", 201,
		},
	} {
		require.Contains(t, s.send(o.method, o.path, o.body).Reason(http.StatusConflict), o.refusal, name)
		require.Contains(t, s.send(o.method, o.path, o.body, kubeKey("two/env")...).Reason(http.StatusConflict), o.refusal, name)
		require.Contains(t, s.send(o.method, o.path, o.body, kubeKey("env")...).Reason(http.StatusBadRequest), `found "env"`, name)
		s.want(o.done, o.method, o.path, o.body, kubeKey(o.key)...)
	}
	s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID), nil)
	require.Contains(t, s.send(http.MethodPost, "/v2/clusters", clusterParams("again"), kubeKey("one/prod")...).
		Reason(http.StatusConflict), "one/prod defines another object already")
	require.Contains(t, s.send(http.MethodPost, "/v2/infra-envs", body, kubeKey("one/env")...).Reason(http.StatusConflict), "one/env")

	// A deleted object leaves its resource free, until it is brought back.
	require.Contains(t, s.send(http.MethodDelete, clusterPath(c.ID), nil).Reason(http.StatusConflict), "ClusterDeployment")
	s.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil, kubeKey("one/prod")...)
	s.want(http.StatusCreated, http.MethodPost, "/v2/clusters", clusterParams("again"), kubeKey("one/prod")...)
	require.Contains(t, s.send(http.MethodPost, ownClusterPath(c.ID)+"/undelete", nil).Reason(http.StatusConflict), "one/prod")
}

// Objects without a resource are anybody's who may change them, whatever key the request has.
func TestKeysDoNotMatterToObjectsOfUsers(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), map[string]any{"ssh_authorized_key": ""}, kubeKey("one/env")...)
	var objects []wire.KubeObject
	s.want(http.StatusOK, http.MethodGet, kubeObjectsPath, nil).JSON(&objects)
	require.Empty(t, objects)
}

// Two hubs with credentials of their own have resources of the same names.
func TestResourcesOfTwoTenantsAreTwo(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	ids := map[string]uuid.UUID{}
	for _, who := range []model.UserToken{{UserName: "hub-1"}, {UserName: "hub-2"}, {UserName: "hub-3", OrgID: "acme"}} {
		var c wire.Cluster
		headers := append(l.as(who.UserName, who.OrgID, auth.RoleUser), kubeKey("one/prod")...)
		l.closed.want(http.StatusCreated, http.MethodPost, "/v2/clusters", clusterParams("prod"), headers...).JSON(&c)
		ids[who.UserName] = c.ID
		var objects []wire.KubeObject
		l.closed.want(http.StatusOK, http.MethodGet, kubeObjectsPath, nil, headers...).JSON(&objects)
		require.Len(t, objects, 1)
		require.Equal(t, c.ID, objects[0].ID)
	}
	hub3 := append(l.as("hub-3", "acme", auth.RoleUser), kubeKey("one/prod")...)
	l.closed.want(http.StatusNotFound, http.MethodDelete, clusterPath(ids["hub-1"]), nil, hub3...)
	l.closed.want(http.StatusNoContent, http.MethodDelete, clusterPath(ids["hub-3"]), nil, hub3...)
}
