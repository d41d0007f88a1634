package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

func TestSecretsOfAHostAreSealed(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	cluster := newCluster(t, s)
	h := newHost(t, s, &cluster.ID)
	_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		h.Fencing = &model.FencingCredentials{
			Address:                 "https://bmc",
			Username:                "admin",
			Password:                "hunter2",
			CertificateVerification: "Disabled",
		}
		h.IgnitionEndpointToken = "t0ken"
		h.IgnitionEndpointHeaders = map[string]model.Secret{"X-Site": "headerval"}
		return nil
	})
	require.NoError(t, err)

	got, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Equal(t, "hunter2", got.Fencing.Password.Reveal())
	require.Equal(t, "https://bmc", got.Fencing.Address)
	require.Equal(t, "t0ken", got.IgnitionEndpointToken.Reveal())
	require.Equal(t, "headerval", got.IgnitionEndpointHeaders["X-Site"].Reveal())

	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	var row string
	require.NoError(t, conn.QueryRow(t.Context(), `select h::text from slipway.hosts h where id = $1`, h.ID).Scan(&row))
	for _, secret := range []string{"hunter2", "t0ken", "headerval"} {
		require.NotContains(t, row, secret)
	}

	_, err = s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		h.Fencing, h.IgnitionEndpointToken, h.IgnitionEndpointHeaders = nil, "", nil
		return nil
	})
	require.NoError(t, err)
	got, err = s.Host(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Nil(t, got.Fencing)
	require.Empty(t, got.IgnitionEndpointToken)
}

// Attack: a dump of the database.
func TestOverridesAndProxiesAreSealed(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })

	// Rows of versions before have these texts in their documents, and keep them until they are written.
	for _, statement := range []string{
		`update slipway.clusters set doc = doc || '{"install_config_override":"{\"a\":\"hunter2\"}","proxy":{"http":"http://u:hunter2@p"},"ui_settings":"hunter2"}'`,
		`update slipway.infra_envs set doc = doc || '{"ignition_config_override":"hunter2","proxy":{"https":"http://u:hunter2@q"},
			"kernel_arguments":[{"operation":"append","value":"a=hunter2"}]}'`,
		`update slipway.hosts set doc = doc || '{"ignition_config_overrides":"hunter2","installer_args":["--append-karg","a=hunter2"]}'`,
	} {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	whole := func() {
		t.Helper()
		c, err := s.Cluster(t.Context(), c.ID)
		require.NoError(t, err)
		require.Equal(t, `{"a":"hunter2"}`, c.InstallConfigOverride)
		require.Equal(t, model.Proxy{HTTP: "http://u:hunter2@p"}, c.Proxy)
		require.Equal(t, "hunter2", c.UISettings)
		e, err := s.InfraEnv(t.Context(), h.InfraEnvID)
		require.NoError(t, err)
		require.Equal(t, "hunter2", e.IgnitionConfigOverride)
		require.Equal(t, model.Proxy{HTTPS: "http://u:hunter2@q"}, e.Proxy)
		require.Equal(t, []model.KernelArgument{{Operation: "append", Value: "a=hunter2"}}, e.KernelArguments)
		got, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
		require.NoError(t, err)
		require.Equal(t, "hunter2", got.IgnitionConfigOverrides)
		require.Equal(t, []string{"--append-karg", "a=hunter2"}, got.InstallerArgs)
	}
	whole()
	_, err = s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error { c.Tags = "touched"; return nil })
	require.NoError(t, err)
	_, err = s.UpdateInfraEnv(t.Context(), h.InfraEnvID, func(e *model.InfraEnv, _ *store.Tx) error { e.Name = "touched"; return nil })
	require.NoError(t, err)
	_, err = s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error { h.UserName = "touched"; return nil })
	require.NoError(t, err)
	whole()
	for _, table := range []string{"clusters", "infra_envs", "hosts"} {
		var rows string
		require.NoError(t, conn.QueryRow(t.Context(), `select string_agg(x::text, '') from slipway.`+table+` x`).Scan(&rows))
		require.NotContains(t, rows, "hunter2", table)
	}
	uses, err := s.ClusterUses(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, 1, uses.IgnitionOverrides)

	_, err = s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.InstallConfigOverride, c.Proxy = "", model.Proxy{}
		return nil
	})
	require.NoError(t, err)
	got, err := s.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.Empty(t, got.InstallConfigOverride)
	require.Empty(t, got.Proxy)
	require.Equal(t, 1, uses.KernelArguments)
	_, err = s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error { h.InstallerArgs = nil; return nil })
	require.NoError(t, err)
	changed, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Empty(t, changed.InstallerArgs)
	e, err := s.UpdateInfraEnv(t.Context(), h.InfraEnvID, func(e *model.InfraEnv, _ *store.Tx) error { e.KernelArguments = nil; return nil })
	require.NoError(t, err)
	require.Empty(t, e.KernelArguments)
	e, err = s.InfraEnv(t.Context(), h.InfraEnvID)
	require.NoError(t, err)
	require.Empty(t, e.KernelArguments)
}

func TestArgumentsOfStepsAreSealed(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	for id, args := range map[string][]string{"image-write-1": {`{"proxy":"http://u:hunter2@p"}`, "é\n"}, "reboot-1": nil} {
		_, err := s.ArmActivity(t.Context(), model.PendingActivity{
			ID: id, Kind: model.ActivityStep, ClusterID: c.ID, InfraEnvID: &h.InfraEnvID, HostID: &h.ID, Type: id, Args: args,
			WorkflowID: "host:" + h.ID.String(), RunID: "run-1", ActivityID: id, TaskToken: []byte("token"), Attempt: 1,
			HeartbeatEvery: time.Minute,
		})
		require.NoError(t, err)
		var row string
		require.NoError(t, conn.QueryRow(t.Context(), `select args::text from slipway.pending_activities where id = $1`, id).Scan(&row))
		require.NotContains(t, row, "hunter2")
		got := activity(t, s, c.ID, id)
		require.ElementsMatch(t, args, got.Args)
	}
	// Rows of versions before have them in clear.
	_, err = conn.Exec(t.Context(), `update slipway.pending_activities set args = '["{}"]' where id = 'reboot-1'`)
	require.NoError(t, err)
	require.Equal(t, []string{"{}"}, activity(t, s, c.ID, "reboot-1").Args)
}

func activity(t *testing.T, s *store.Store, cluster uuid.UUID, id string) model.PendingActivity {
	t.Helper()
	all, err := s.PendingActivities(t.Context(), cluster)
	require.NoError(t, err)
	for _, i := range all {
		if i.ID == id {
			return i
		}
	}
	require.Fail(t, "no activity "+id)
	return model.PendingActivity{}
}
