package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// The steps of the console's "Static IP, bridges, and bonds" (internal/hostconfig/staticnet/testdata/console.json): a
// placeholder first, the networks of all hosts, then hosts; for a new cluster and for hosts that are added to an existing one.
func TestConsoleConfiguresStaticNetworks(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../internal/hostconfig/staticnet/testdata/console.json")
	require.NoError(t, err)
	var steps map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &steps))
	for day, cluster := range map[string]func(*service) uuid.UUID{
		"day 1": func(s *service) uuid.UUID { return s.cluster(nil).ID },
		"day 2": func(s *service) uuid.UUID {
			body := map[string]any{"name": "old", "api_vip_dnsname": "api.old.example.com", "openshift_cluster_id": uuid.New()}
			return uuid.MustParse(s.want(http.StatusCreated, http.MethodPost, "/v2/clusters/import", body).Object()["id"].(string))
		},
	} {
		for _, networks := range []string{"IPv4", "IPv4, VLAN", "dual stack", "dual stack, VLAN"} {
			for _, bond := range []string{"", ", bond"} {
				t.Run(day+", "+networks+bond, func(t *testing.T) {
					t.Parallel()
					s := newService(t)
					id := cluster(s)
					env := s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", map[string]any{
						"name": "env", "pull_secret": pullSecret, "cluster_id": id, "static_network_config": steps["first"],
					}).Object()
					path := "/v2/infra-envs/" + env["id"].(string)
					waits := func(waits bool, step string) {
						t.Helper()
						validations := s.want(http.StatusOK, http.MethodGet, clusterPath(id), nil).Object()["validations_info"].(string)
						require.Equal(t, waits, strings.Contains(validations, "found the placeholders that a client sends first"), step)
						config := s.want(http.StatusOK, http.MethodGet, path+"/downloads/files?file_name=static-network-config", nil).Body
						require.NotEqual(t, waits, strings.Contains(string(config), "mac_interface.ini"), "%s: no image gets placeholders", step)
					}
					waits(true, "first")
					for _, step := range []string{networks + ", networks only", networks + bond + ", a host without its second address"} {
						if steps[step] == nil {
							require.NotContains(t, step, "dual stack")
							continue
						}
						s.want(http.StatusCreated, http.MethodPatch, path, map[string]any{"static_network_config": steps[step]})
						waits(true, step)
					}
					sent := steps[networks+bond+", a host"]
					got := s.want(http.StatusCreated, http.MethodPatch, path, map[string]any{"static_network_config": sent}).Object()
					require.JSONEq(t, string(sent), got["static_network_config"].(string), "the console reads what it wrote")
					waits(false, "a host")
				})
			}
		}
	}
}
