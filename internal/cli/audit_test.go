package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cli"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func TestAuditListsWhatUsersDid(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c, err := s.client.ListClusters(t.Context(), false)
	require.NoError(t, err)
	require.Empty(t, c)
	_, err = run(t, s.url, "cluster", "create", "lab", "--pull-secret", s.secret, "--version", "4.20", "--base-domain", "example.com")
	require.NoError(t, err)
	_, err = run(t, s.url, "cluster", "set", "lab", "--tag", "a")
	require.NoError(t, err)
	gone, token := uuid.New(), uuid.New()
	for _, e := range []model.AuditEntry{
		{
			UserName: "eve", Credential: model.AuditToken, TokenID: &token, Role: "viewer", Operation: "v2DeregisterCluster", ClusterID: &gone,
			Subject: "kube\u202econfig", RequestID: "r-1", Address: "192.0.2.7", Outcome: model.AuditRefused, Status: 403,
		},
	} {
		require.NoError(t, s.store.AddAudit(t.Context(), &e))
	}
	begun := model.AuditEntry{Credential: model.AuditAddress, Role: "address", Operation: "V2DownloadClusterLogs"}
	require.NoError(t, s.store.BeginAudit(t.Context(), &begun))

	out, err := run(t, s.url, "audit")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 6, out)
	require.Equal(t, []string{"TIME", "USER", "OPERATION", "OUTCOME", "ABOUT"}, strings.Fields(lines[0]))
	require.Regexp(t, `admin +v2RegisterCluster +ok 201`, lines[1], "the oldest first")
	require.Contains(t, lines[1], "cluster/lab")
	require.Contains(t, lines[2], "infra-env/lab_infra-env")
	require.Contains(t, lines[4], "refused 403")
	require.Contains(t, lines[4], "cluster/"+gone.String()+" kube\ufffdconfig")
	require.Regexp(t, ` -  +V2DownloadClusterLogs +unknown`, lines[5])

	for flags, want := range map[string][]string{
		"--cluster lab":                      {"v2RegisterCluster", "RegisterInfraEnv", "V2UpdateCluster"},
		"--cluster " + gone.String():         {"v2DeregisterCluster"},
		"--user eve":                         {"v2DeregisterCluster"},
		"--outcome unknown":                  {"V2DownloadClusterLogs"},
		"--operation v2RegisterCluster":      {"v2RegisterCluster"},
		"--limit 1":                          {"V2DownloadClusterLogs"},
		"--user eve --since 1h --outcome ok": {},
	} {
		out, err := run(t, s.url, append([]string{"audit", "-o", "json"}, strings.Fields(flags)...)...)
		require.NoError(t, err)
		var entries []wire.AuditEntry
		require.NoError(t, json.Unmarshal([]byte(out), &entries), out)
		found := []string{}
		for _, e := range entries {
			found = append(found, e.Operation)
		}
		require.Equal(t, want, found, flags)
	}
	out, err = run(t, s.url, "audit", "--wide", "--user", "eve", "--no-headers")
	require.NoError(t, err)
	for _, part := range []string{"viewer", "token", token.String(), "192.0.2.7", "r-1"} {
		require.Contains(t, out, part)
	}
	_, err = run(t, s.url, "audit", "--cluster", "none")
	require.Error(t, err)
	_, err = run(t, s.url, "audit", "--limit", "0")
	require.ErrorContains(t, err, "require at least 1, found 0")
	_, err = run(t, s.url, "audit", "--outcome", "good")
	require.Error(t, err)
}

// A service with more rows than a page: the command asks until it has as many as the user wants.
func TestAuditReadsPages(t *testing.T) {
	t.Parallel()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("limit")+" "+r.URL.Query().Get("page_token"))
		page := wire.Audit{Entries: make([]wire.AuditEntry, 1000), NextPageToken: "next"}
		if r.URL.Query().Get("limit") != "1000" {
			page.Entries = page.Entries[:500]
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	t.Cleanup(server.Close)
	out, err := run(t, server.URL, "audit", "--limit", "2500", "--no-headers")
	require.NoError(t, err)
	require.Equal(t, []string{"1000 ", "1000 next", "500 next"}, asked)
	require.Equal(t, 2500, strings.Count(out, "\n"))
}

// The list is shown again when a command that had begun has an outcome.
func TestAuditIsWatched(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	outcomes := []string{"unknown", "unknown", "ok", "ok"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e := wire.AuditEntry{ID: 1, At: wire.DateTime(now), Operation: "CreateToken", Outcome: outcomes[0]}
		if outcomes = outcomes[1:]; len(outcomes) == 0 {
			interrupt()
			outcomes = []string{"ok"}
		}
		_ = json.NewEncoder(w).Encode(wire.Audit{Entries: []wire.AuditEntry{e}})
	}))
	t.Cleanup(server.Close)
	var out bytes.Buffer
	terminal := &cli.Terminal{Out: &out, Err: &out, Now: time.Now}
	printed, err := typeUntil(ctx, t, terminal, &out, server.URL, "audit", "--watch", "-o", "json")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(printed, `"outcome":"unknown"`), "shown once while nothing changes")
	require.Equal(t, 1, strings.Count(printed, `"outcome":"ok"`))
}
