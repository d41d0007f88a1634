package validation_test

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/testing/recorded"
	"slipway/internal/wire"
)

type exchange struct {
	Request string          `json:"request"`
	Body    json.RawMessage `json:"body"`
	Reply   json.RawMessage `json:"reply"`
}

type shownResult struct{ ID, Status string }

// TestLiveSession compares ids, order and statuses with a session of a running system:
// one host of a cluster that sent its inventory and nothing else.
func TestLiveSession(t *testing.T) {
	t.Parallel()
	var session []exchange
	require.NoError(t, json.Unmarshal(recorded.Session(), &session))
	var cluster struct {
		Info  string `json:"validations_info"`
		Hosts []struct {
			ID        uuid.UUID
			Inventory string
			Info      string `json:"validations_info"`
			Timestamp int64
			CheckedIn time.Time `json:"checked_in_at"`
		}
	}
	for _, e := range session {
		if strings.HasPrefix(e.Request, "GET /api/assisted-install/v2/clusters/2a") && !strings.HasSuffix(e.Request, "requirements") &&
			!strings.HasSuffix(e.Request, "config") {
			require.NoError(t, json.Unmarshal(e.Reply, &cluster))
		}
	}
	require.Len(t, cluster.Hosts, 1)
	live := cluster.Hosts[0]

	c := newCluster()
	c.Name, c.MachineNetworks = "smoke", prefixes("192.168.10.0/24")
	c.APIVIPs = []model.VIP{{IP: netip.MustParseAddr("192.168.10.5")}}
	c.IngressVIPs = []model.VIP{{IP: netip.MustParseAddr("192.168.10.6")}}
	var inv wire.Inventory
	require.NoError(t, json.Unmarshal([]byte(live.Inventory), &inv))
	h := &model.Host{
		ID: live.ID, ClusterID: &c.ID, Kind: model.KindHost, Status: model.HostInsufficient,
		Role: model.RoleAutoAssign, SuggestedRole: model.RoleMaster, Inventory: &inv,
		CheckedInAt: live.CheckedIn, Timestamp: live.Timestamp,
	}
	hosts := []*model.Host{h}
	c.Connectivity = validation.Connectivity(c, hosts)
	facts := validation.HostFacts{
		Host: h, Cluster: c, Peers: validation.NewPeers(c, hosts), Now: live.CheckedIn,
		Requirements: openshift.RequirementsFor(version), Options: validation.DefaultOptions(),
	}
	compare(t, live.Info, validation.Info(validation.Host(facts)))
	compare(t, cluster.Info, validation.Info(validation.Cluster(validation.ClusterFacts{
		Cluster: c, Hosts: hosts, Requirements: facts.Requirements, Options: facts.Options, Now: facts.Now,
	})))
}

// beyondV2 are rules that the v2 API does not have, with the reason of each.
var beyondV2 = map[string]string{}

func compare(t *testing.T, want, got string) {
	t.Helper()
	var wanted, found map[string][]shownResult
	require.NoError(t, json.Unmarshal([]byte(want), &wanted))
	require.NoError(t, json.Unmarshal([]byte(got), &found))
	for category, results := range found {
		found[category] = slices.DeleteFunc(results, func(r shownResult) bool { return beyondV2[r.ID] != "" })
	}
	require.Equal(t, wanted, found)
}

func TestInfo(t *testing.T) {
	t.Parallel()
	require.Equal(t, "{}", validation.Info(nil))
	require.JSONEq(
		t,
		`{"network":[{"id":"a","status":"success","message":"fine"},{"id":"b","status":"error","message":""}],"hardware":[{"id":"c","status":"pending","message":"\"q\""}]}`,
		validation.Info([]model.ValidationResult{
			{ID: "a", Category: "network", Status: ok, Message: "fine"},
			{ID: "c", Category: "hardware", Status: waits, Message: `"q"`},
			{ID: "b", Category: "network", Status: errs},
		}),
	)
}
