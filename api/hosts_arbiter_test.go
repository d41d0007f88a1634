package api_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

func TestTheRoleOfAnArbiterIsRefusedWhereNoneCanBe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cluster map[string]any
		version string
		day2    bool
		want    string // empty: taken
	}{
		"before 4.19":                 {nil, "4.18.9", false, "4.18"},
		"on vSphere":                  {map[string]any{"platform": map[string]any{"type": "vsphere"}}, "4.22.9", false, "vsphere"},
		"on Nutanix":                  {map[string]any{"platform": map[string]any{"type": "nutanix"}}, "4.22.9", false, "nutanix"},
		"without a platform":          {map[string]any{"platform": map[string]any{"type": "none"}}, "4.20.3", false, "none"},
		"a single node":               {map[string]any{"control_plane_count": 1}, "4.22.9", false, "single node"},
		"on bare metal from 4.19":     {nil, "4.19.1", false, ""},
		"on bare metal":               {nil, "4.22.9", false, ""},
		"two masters":                 {map[string]any{"control_plane_count": 2}, "4.22.9", false, ""},
		"in a cluster that is opened": {nil, "4.18.9", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			cluster := s.cluster(c.cluster)
			answered := func(r reply, good int) {
				t.Helper()
				if c.want == "" {
					require.Equal(t, good, r.Status, string(r.Body))
					return
				}
				reason := r.Reason(http.StatusBadRequest)
				require.Contains(t, reason, "host_role: ")
				require.Contains(t, reason, c.want)
			}
			role := map[string]any{"host_role": "arbiter"}
			h := s.host(s.infraEnv(cluster.ID).ID)
			s.changeCluster(cluster.ID, func(now *model.Cluster) {
				now.OpenShiftVersion = c.version
				if c.day2 {
					now.Kind = model.KindAddHostsCluster
				}
			})
			path := "/v2/infra-envs/" + h.InfraEnvID.String() + "/hosts/" + h.ID.String()
			answered(s.send(http.MethodPatch, path, role), http.StatusCreated)
			s.want(http.StatusCreated, http.MethodPatch, path, map[string]any{"host_role": "master"})

			unbound := s.host(s.infraEnv(uuid.Nil).ID)
			path = "/v2/infra-envs/" + unbound.InfraEnvID.String() + "/hosts/" + unbound.ID.String()
			s.changeHost(unbound.InfraEnvID, unbound.ID, func(h *model.Host) { h.Status, h.Inventory = model.HostKnownUnbound, &wire.Inventory{} })
			both := maps.Clone(role)
			both["host_name"] = "a"
			s.want(http.StatusCreated, http.MethodPatch, path, both)
			answered(s.send(http.MethodPost, path+"/actions/bind", map[string]any{"cluster_id": cluster.ID}), http.StatusOK)
		})
	}
}
