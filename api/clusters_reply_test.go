package api_test

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
)

func TestReplyTellsEverythingThatIsKnownOfACluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	id := s.cluster(nil).ID
	host, other := uuid.New(), uuid.New()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	s.changeCluster(id, func(c *model.Cluster) {
		c.UserName, c.OrgID, c.OpenShiftClusterID = "anna@example.com", "org-1", &other
		c.APIVIPs = []model.VIP{{IP: netip.MustParseAddr("192.0.2.1"), Verification: "succeeded"}}
		c.HostNetworks = []model.HostNetwork{{CIDR: netip.MustParsePrefix("192.0.2.0/24"), HostIDs: []uuid.UUID{host}}}
		c.Connectivity = model.ConnectivityGroups{
			Majority:             map[string][]uuid.UUID{"192.0.2.0/24": {host}},
			L3ConnectedAddresses: map[uuid.UUID][]string{host: {"192.0.2.9"}},
			IPCollisions:         map[string][]string{"192.0.2.9": {"52:54:00:00:00:01", "52:54:00:00:00:02"}},
		}
		c.LastPreparation = model.Preparation{Status: "failed", Reason: "no disk"}
		c.InstallStartedAt, c.InstallCompletedAt = at, at.Add(time.Hour)
		c.LogsInfo, c.ControllerLogsStartedAt, c.ControllerLogsCollectedAt = model.LogsCompleted, at, at
		c.Progress = model.ClusterProgress{
			Total:                    30,
			Preparing:                100,
			Installing:               25,
			FinalizingStage:          model.FinalizingAddingRouterCA,
			FinalizingStageStartedAt: at,
		}
		c.Imported, c.APIVIPDNSName = true, "api.example.com"
		c.InstallConfigOverride = `{"fips":true}`
	})
	got := s.want(http.StatusOK, http.MethodGet, clusterPath(id), nil).Object()
	for field, want := range map[string]any{
		"user_name": "anna@example.com", "org_id": "org-1", "email_domain": "example.com", "openshift_cluster_id": other.String(),
		"api_vips":      []any{map[string]any{"cluster_id": id.String(), "ip": "192.0.2.1", "verification": "succeeded"}},
		"host_networks": []any{map[string]any{"cidr": "192.0.2.0/24", "host_ids": []any{host.String()}}},
		"connectivity_majority_groups": `{"l3_connected_addresses":{"` + host.String() + `":["192.0.2.9"]},"majority_groups":{"192.0.2.0/24":["` +
			host.String() + `"]}}`,
		"ip_collisions":                 `{"192.0.2.9":["52:54:00:00:00:01","52:54:00:00:00:02"]}`,
		"last-installation-preparation": map[string]any{"status": "failed", "reason": "no disk"},
		"install_started_at":            "2026-11-21T10:00:00.000Z", "install_completed_at": "2026-11-21T11:00:00.000Z",
		"logs_info": "completed", "controller_logs_started_at": "2026-11-21T10:00:00.000Z",
		"controller_logs_collected_at": "2026-11-21T10:00:00.000Z",
		"imported":                     true, "api_vip_dns_name": "api.example.com", "install_config_overrides": `{"fips":true}`,
		"org_soft_timeouts_enabled": true, "total_host_count": 0.0, "ready_host_count": 0.0, "enabled_host_count": 0.0,
	} {
		require.Equal(t, want, got[field], field)
	}
	progress := got["progress"].(map[string]any)
	require.EqualValues(t, 30, progress["total_percentage"])
	require.Equal(t, "Adding router ca", progress["finalizing_stage"])
	require.Contains(t, got, "image_info")
	require.Contains(t, got, "feature_usage")
}
