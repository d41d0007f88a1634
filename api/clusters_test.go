package api_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

func TestNewClusterGetsTheDefaultsOfTheContract(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(
		map[string]any{
			"name":         "smoke",
			"api_vips":     []any{map[string]any{"ip": "192.168.10.5"}},
			"ingress_vips": []any{map[string]any{"ip": "192.168.10.6"}},
		},
	)
	require.Equal(t, wire.ClusterStatusInsufficient, c.Status)
	require.NotEmpty(t, c.StatusInfo)
	require.Equal(t, "4.22.9", c.OpenshiftVersion)
	require.Equal(t, "quay.io/ocp/release:4.22.9-x86_64", c.OcpReleaseImage)
	require.Equal(t, base+clusterPath(c.ID), c.Href)
	require.Equal(t, 3, c.ControlPlaneCount)
	require.Equal(t, wire.ClusterHighAvailabilityModeFull, c.HighAvailabilityMode)
	require.Equal(t, wire.ClusterCPUArchitecture("x86_64"), c.CPUArchitecture)
	require.Equal(t, wire.PlatformType("baremetal"), c.Platform.Type)
	require.False(t, c.UserManagedNetworking)
	require.Equal(t, wire.LoadBalancerType("cluster-managed"), c.LoadBalancer.Type)
	require.Equal(t, wire.ClusterNetworkType("OVNKubernetes"), c.NetworkType)
	require.Equal(t, []wire.ClusterNetwork{{ClusterID: c.ID, Cidr: "10.128.0.0/14", HostPrefix: 23}}, c.ClusterNetworks)
	require.Equal(t, []wire.ServiceNetwork{{ClusterID: c.ID, Cidr: "172.30.0.0/16"}}, c.ServiceNetworks)
	require.Empty(t, c.MachineNetworks)
	require.Equal(t, []wire.APIVip{{ClusterID: c.ID, IP: "192.168.10.5"}}, c.APIVips)
	require.Equal(t, wire.DiskEncryption{EnableOn: "none", Mode: "tpmv2"}, c.DiskEncryption)
	require.Equal(t, wire.ClusterHyperthreading("all"), c.Hyperthreading)
	require.True(t, c.SchedulableMastersForcedTrue)
	require.True(t, c.PullSecretSet)
	require.Len(t, c.MonitoredOperators, 1)
	require.Equal(t, "console", c.MonitoredOperators[0].Name)
	require.Equal(t, 3600, c.MonitoredOperators[0].TimeoutSeconds)

	stored, err := s.store.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.True(t, stored.MachineNetworksAuto, "the refresher derives the machine networks")
	require.Equal(t, pullSecret, stored.PullSecret.Reveal())
	require.Equal(
		t,
		"cluster_registration_succeeded",
		s.want(http.StatusOK, http.MethodGet, "/v2/events?cluster_id="+c.ID.String(), nil).List()[0]["name"],
	)
}

func TestSettingsOfAClusterComeBackAsTheyWereSent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	settings := map[string]any{
		"name": "edge", "base_dns_domain": "lab.example.com", "ssh_public_key": sshKey, "tags": "a,b",
		"http_proxy": "http://proxy.example:3128", "https_proxy": "http://proxy.example:3128", "no_proxy": "example.com,192.0.2.0/24",
		"additional_ntp_source": "ntp.example.com,192.0.2.9", "network_type": "Cilium", "hyperthreading": "masters",
		"schedulable_masters": true, "user_managed_networking": false,
		"machine_networks": []any{map[string]any{"cidr": "192.0.2.0/24"}, map[string]any{"cidr": "2001:db8::/64"}},
		"cluster_networks": []any{
			map[string]any{"cidr": "10.0.0.0/16", "host_prefix": 24},
			map[string]any{"cidr": "fd00::/48", "host_prefix": 64},
		},
		"service_networks":    []any{map[string]any{"cidr": "10.1.0.0/16"}, map[string]any{"cidr": "fd02::/112"}},
		"api_vips":            []any{map[string]any{"ip": "192.0.2.10"}, map[string]any{"ip": "2001:db8::10"}},
		"ingress_vips":        []any{map[string]any{"ip": "192.0.2.11"}, map[string]any{"ip": "2001:db8::11"}},
		"platform":            map[string]any{"type": "baremetal"},
		"load_balancer":       map[string]any{"type": "cluster-managed"},
		"disk_encryption":     map[string]any{"enable_on": "all", "mode": "tang", "tang_servers": tangServers},
		"control_plane_count": 5,
	}
	registered := s.cluster(settings)
	changed := s.cluster(nil)
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(changed.ID), settings)
	for name, id := range map[string]uuid.UUID{"registered": registered.ID, "changed": changed.ID} {
		got := s.want(http.StatusOK, http.MethodGet, clusterPath(id), nil).Object()
		for field, sent := range settings {
			require.Equal(t, withoutClusterID(plain(t, sent)), withoutClusterID(got[field]), "%s: %s", name, field)
		}
	}
}

func TestAbsentAndNullFieldsChangeNothing(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"additional_ntp_source": "192.0.2.9", "api_vips": []any{map[string]any{"ip": "192.0.2.10"}}})
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"tags":"x","name":null,"api_vips":null}`)
	got := s.readCluster(c.ID)
	require.Equal(t, "x", got.Tags)
	require.Equal(t, c.Name, got.Name)
	require.Equal(t, "192.0.2.9", got.AdditionalNtpSource)
	require.Equal(t, c.APIVips, got.APIVips)
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"api_vips":[],"additional_ntp_source":""}`)
	got = s.readCluster(c.ID)
	require.Empty(t, got.APIVips)
	require.Empty(t, got.AdditionalNtpSource)
}

func TestSingleNodeHasItsNetworkManagedByTheUser(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for name, fields := range map[string]map[string]any{
		"by count":        {"control_plane_count": 1},
		"by the old name": {"high_availability_mode": "None"},
	} {
		c := s.cluster(fields)
		require.Equal(t, 1, c.ControlPlaneCount, name)
		require.Equal(t, wire.ClusterHighAvailabilityModeNone, c.HighAvailabilityMode, name)
		require.Equal(t, wire.PlatformType("none"), c.Platform.Type, name)
		require.True(t, c.UserManagedNetworking, name)
	}
}

func TestQuestionsToHostsAreAskedAgainWhenTheNetworkChanges(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	generation := func() int64 {
		stored, err := s.store.Cluster(t.Context(), c.ID)
		require.NoError(t, err)
		return stored.NetworkGeneration
	}
	before := generation()
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"tags":"x","ssh_public_key":""}`)
	require.Equal(t, before, generation(), "tags are of no interest to hosts")
	for _, body := range []string{
		`{"api_vips":[{"ip":"192.0.2.10"}],"ingress_vips":[{"ip":"192.0.2.11"}]}`, `{"base_dns_domain":"other.example.com"}`,
		`{"name":"other"}`,
		`{"additional_ntp_source":"192.0.2.9"}`, `{"machine_networks":[{"cidr":"192.0.2.0/24"}]}`,
	} {
		before = generation()
		s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), body)
		require.Equal(t, before+1, generation(), body)
		s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), body)
		require.Equal(t, before+1, generation(), "the same again: %s", body)
	}
	stored, err := s.store.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.False(t, stored.MachineNetworksAuto)
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), `{"machine_networks":[]}`)
	stored, err = s.store.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.True(t, stored.MachineNetworksAuto)
}

func TestClusterInAnInstallationIsNotChangedOrDeleted(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	for status, deletable := range map[model.ClusterStatus]bool{
		model.ClusterInstalling: false, model.ClusterPreparingForInstallation: false, model.ClusterFinalizing: false,
		model.ClusterInstalled: true, model.ClusterError: true,
	} {
		s.changeCluster(c.ID, func(c *model.Cluster) { c.Status = status })
		require.Contains(t, s.send(http.MethodPatch, clusterPath(c.ID), `{"name":"x"}`).Reason(http.StatusConflict), status)
		require.Contains(t, s.send(http.MethodPatch, clusterPath(c.ID)+"/install-config", `"{}"`).Reason(http.StatusConflict), status)
		if !deletable {
			require.Contains(t, s.send(http.MethodDelete, clusterPath(c.ID), nil).Reason(http.StatusConflict), status)
		}
	}
}

func TestDeletedClusterIsGoneAndItsFilesWaitForThePurge(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	_, err := s.blob.Put(t.Context(), "clusters/"+c.ID.String()+"/metadata.json", []byte("{}"))
	require.NoError(t, err)
	s.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil)
	require.Contains(t, s.send(http.MethodGet, clusterPath(c.ID), nil).Reason(http.StatusNotFound), c.ID.String())
	left, err := s.blob.List(t.Context(), "clusters/"+c.ID.String())
	require.NoError(t, err)
	require.Len(t, left, 1, "the cluster may be brought back")
	s.send(http.MethodDelete, clusterPath(c.ID), nil).Reason(http.StatusNotFound)
}

func TestListOfClustersHasHostsOnRequestOnly(t *testing.T) {
	t.Parallel()
	s := newService(t)
	require.JSONEq(t, "[]", string(s.want(http.StatusOK, http.MethodGet, "/v2/clusters", nil).Body))
	c := s.cluster(nil)
	s.cluster(map[string]any{"name": "empty"})
	s.host(s.infraEnv(c.ID).ID)
	for query, hosts := range map[string]int{"": 0, "?with_hosts=false": 0, "?with_hosts=true": 1} {
		list := s.want(http.StatusOK, http.MethodGet, "/v2/clusters"+query, nil).List()
		require.Len(t, list, 2)
		require.Equal(t, "empty", list[0]["name"], "newest first")
		require.Len(t, list[1]["hosts"], hosts, query)
		require.EqualValues(t, 1, list[1]["total_host_count"])
		require.EqualValues(t, 1, list[1]["enabled_host_count"])
		require.EqualValues(t, 0, list[1]["ready_host_count"])
		require.Len(t, list[1]["monitored_operators"], 1)
	}
	require.Len(t, s.want(http.StatusOK, http.MethodGet, "/v2/clusters?owner=admin", nil).List(), 2)
	require.Empty(t, s.want(http.StatusOK, http.MethodGet, "/v2/clusters?owner=somebody", nil).List())
	require.Empty(t, s.want(http.StatusOK, http.MethodGet, "/v2/clusters?openshift_cluster_id="+uuid.NewString(), nil).List())
	require.Len(t, s.readCluster(c.ID).Hosts, 1)
	require.Empty(t, s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID)+"?exclude-hosts=true", nil).Object()["hosts"])
}

func TestCommandsGoToTheOrchestratorAndItsRefusalToTheUser(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	for _, command := range []string{"install", "cancel", "reset"} {
		got := s.want(http.StatusAccepted, http.MethodPost, clusterPath(c.ID)+"/actions/"+command, nil).Object()
		require.Equal(t, c.ID.String(), got["id"])
	}
	id := c.ID.String()
	require.Equal(t, []string{"install " + id, "cancel " + id, "reset " + id}, s.orchestrator.commands)
	s.orchestrator.err = model.Conflictf("cluster prod cannot be installed: require status ready, found insufficient")
	require.Contains(
		t,
		s.send(http.MethodPost, clusterPath(c.ID)+"/actions/install", nil).Reason(http.StatusConflict),
		"found insufficient",
	)
}

func TestMastersTakeWorkUntilThereAreTwoWorkers(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"control_plane_count": 2})
	e := s.infraEnv(c.ID)
	forced := func() bool {
		var c2 wire.Cluster
		s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID), nil).JSON(&c2)
		return c2.SchedulableMastersForcedTrue
	}
	for n, role := range []model.Role{model.RoleMaster, model.RoleMaster, model.RoleArbiter, model.RoleWorker, model.RoleWorker} {
		require.True(t, forced(), "%d hosts", n)
		h := s.host(e.ID)
		s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Role = role })
	}
	require.False(t, forced(), "two masters, an arbiter and two workers")
}

// Clients expect the status that every cluster begins with, also when the cluster is evaluated before its registration is answered.
func TestRegistrationIsAnsweredAsDefined(t *testing.T) {
	t.Parallel()
	s := newService(t)
	conn, err := pgx.Connect(t.Context(), s.database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(t.Context(), `
		create function slipway.evaluated_at_once() returns trigger language plpgsql as $$
		begin
		  update slipway.clusters set status = 'pending-for-input', shown = null where id = new.id;
		  return null;
		end $$;
		create constraint trigger evaluated_at_once after insert on slipway.clusters deferrable initially deferred
		  for each row execute function slipway.evaluated_at_once()`)
	require.NoError(t, err)
	c := s.cluster(nil)
	require.Equal(t, wire.ClusterStatusInsufficient, c.Status)
	read := s.readCluster(c.ID)
	require.Equal(t, wire.ClusterStatus("pending-for-input"), read.Status)
	require.Equal(t, wire.Text(c.CreatedAt), wire.Text(read.CreatedAt))
	require.NotEmpty(t, c.MonitoredOperators)
	require.Equal(t, wire.Text(c.MonitoredOperators), wire.Text(read.MonitoredOperators))
}
