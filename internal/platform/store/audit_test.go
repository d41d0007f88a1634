package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/testing/pgtest"
)

// command begins a row of the audit.
func command(t *testing.T, s *store.Store, change func(*model.AuditEntry)) *model.AuditEntry {
	t.Helper()
	e := &model.AuditEntry{UserName: "ann", Credential: model.AuditToken, Role: "admin", Operation: "v2InstallCluster", Method: "POST"}
	if change != nil {
		change(e)
	}
	require.NoError(t, s.BeginAudit(t.Context(), e))
	return e
}

func entries(t *testing.T, s *store.Store, f store.AuditFilter) []model.AuditEntry {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = 100
	}
	list, err := s.AuditEntries(t.Context(), f)
	require.NoError(t, err)
	return list
}

func TestCommandHasOneOutcome(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	e := command(t, s, nil)
	begun := entries(t, s, store.AuditFilter{})[0]
	require.Equal(t, model.AuditUnknown, begun.Outcome, "as after a kill before the answer")
	require.Zero(t, begun.Status)
	require.Zero(t, begun.EndedAt)

	made := uuid.New()
	e.ClusterID, e.Subject = &made, "kubeconfig"
	e.End(201)
	require.NoError(t, s.EndAudit(t.Context(), e))
	ended := entries(t, s, store.AuditFilter{})[0]
	require.Equal(t, model.AuditOK, ended.Outcome)
	require.Equal(t, 201, ended.Status)
	require.Equal(t, made, *ended.ClusterID)
	require.Equal(t, "kubeconfig", ended.Subject)
	require.False(t, ended.EndedAt.IsZero())

	e.End(500)
	require.ErrorIs(t, s.EndAudit(t.Context(), e), model.ErrNotFound, "it has one")
	require.Equal(t, ended, entries(t, s, store.AuditFilter{})[0])
}

func TestCommandForAHostNamesItsCluster(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	command(t, s, func(e *model.AuditEntry) { e.InfraEnvID, e.HostID = &h.InfraEnvID, &h.ID })
	require.Len(t, entries(t, s, store.AuditFilter{ClusterID: c.ID}), 1)

	refused := &model.AuditEntry{UserName: "eve", Credential: model.AuditToken, InfraEnvID: &h.InfraEnvID, HostID: &h.ID}
	refused.End(404)
	require.NoError(t, s.AddAudit(t.Context(), refused))
	rows := entries(t, s, store.AuditFilter{User: "eve"})
	require.Len(t, rows, 1)
	require.Nil(t, rows[0].ClusterID, "the host may be another tenant's: the row shows nothing of it")
	require.Equal(t, model.AuditRefused, rows[0].Outcome)
}

func TestRowsAreBounded(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	long := strings.Repeat("ü\x1b\x00\xff", 1000)
	e := command(t, s, func(e *model.AuditEntry) {
		e.UserName, e.OrgID, e.Role, e.Address, e.Operation, e.Method = long, long, long, long, long, long
		e.Path, e.Subject, e.RequestID, e.Detail = long, long, long, long
	})
	e.End(200)
	require.NoError(t, s.EndAudit(t.Context(), e))
	row := entries(t, s, store.AuditFilter{})[0]
	require.Len(t, []rune(row.UserName), 256)
	require.Len(t, []rune(row.Subject), 200)
	require.NotContains(t, row.UserName+row.Subject+row.Detail, "\x1b")
}

func TestFiltersAndPagesOfTheAudit(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	cluster := uuid.New()
	for n, user := range []string{"ann", "bob", "ann", "bob", "ann"} {
		e := command(t, s, func(e *model.AuditEntry) {
			e.UserName, e.OrgID = user, "acme"
			if n == 0 {
				e.ClusterID, e.Operation, e.OrgID = &cluster, "v2ResetCluster", ""
			}
		})
		if n < 4 {
			e.End([]int{200, 403, 500, 202}[n])
			require.NoError(t, s.EndAudit(t.Context(), e))
		}
	}
	count := func(f store.AuditFilter) int { return len(entries(t, s, f)) }
	require.Equal(t, 5, count(store.AuditFilter{}))
	require.Equal(t, 3, count(store.AuditFilter{User: "ann"}))
	own := &store.TokenFilter{UserName: "ann", OrgID: "acme"}
	require.Equal(t, 2, count(store.AuditFilter{Own: own}), "the same name without an organization")
	require.Equal(t, 1, count(store.AuditFilter{ClusterID: cluster}))
	require.Equal(t, 1, count(store.AuditFilter{Operation: "v2ResetCluster"}))
	for outcome, want := range map[model.AuditOutcome]int{
		model.AuditOK: 2, model.AuditRefused: 1, model.AuditFailed: 1, model.AuditUnknown: 1,
	} {
		require.Equal(t, want, count(store.AuditFilter{Outcome: outcome}), outcome)
	}
	require.Equal(t, 5, count(store.AuditFilter{Since: time.Now().Add(-time.Hour)}))
	require.Zero(t, count(store.AuditFilter{Until: time.Now().Add(-time.Hour)}))

	var ids []int64
	for page := entries(t, s, store.AuditFilter{Limit: 2}); len(page) > 0; {
		for _, e := range page {
			ids = append(ids, e.ID)
		}
		page = entries(t, s, store.AuditFilter{Limit: 2, Before: ids[len(ids)-1]})
	}
	require.Len(t, ids, 5)
	require.IsDecreasing(t, ids)
}

// Attacks: statements that would change what users did.
func TestRowsOfTheAuditAreKeptAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	ended, begun := command(t, s, nil), command(t, s, nil)
	ended.End(200)
	require.NoError(t, s.EndAudit(t.Context(), ended))
	require.NoError(t, s.Exec(t.Context(), `
		insert into audit
		  (at, user_name, credential, org_id, role, address, operation, method, path, subject, request_id, detail, outcome, status)
		values (now() - interval '2 days', 'old', 'token', '', '', '', '', '', '', '', '', '', 'ok', 200)`))
	before := entries(t, s, store.AuditFilter{})
	for name, sql := range map[string]string{
		"another user":              `update audit set user_name = 'eve'`,
		"another outcome":           `update audit set outcome = 'refused' where outcome = 'ok'`,
		"an outcome taken back":     `update audit set outcome = 'unknown' where outcome = 'ok'`,
		"a user with an outcome":    `update audit set outcome = 'ok', user_name = 'eve' where outcome = 'unknown'`,
		"nothing, without outcome":  `update audit set status = 200 where outcome = 'unknown'`,
		"a deletion":                `delete from audit`,
		"a deletion of a new row":   `delete from audit where user_name = 'ann'`,
		"a deletion of an old row":  `delete from audit where user_name = 'old'`,
		"a purge of all":            `begin; set local slipway.purges_audit = 'yes'; delete from audit; commit`,
		"a purge by another value":  `begin; set local slipway.purges_audit = 'no'; delete from audit where user_name = 'old'; commit`,
		"a table that is emptied":   `truncate audit`,
		"an emptied table, purging": `begin; set local slipway.purges_audit = 'yes'; truncate audit; commit`,
	} {
		require.ErrorContains(t, s.Exec(t.Context(), sql), "kept as they were written", name)
		require.Equal(t, before, entries(t, s, store.AuditFilter{}), name)
	}
	begun.End(200)
	require.NoError(t, s.EndAudit(t.Context(), begun))
}

func TestPurgeRemovesOldRowsOnly(t *testing.T) {
	t.Parallel()
	url := pgtest.Migrated(t, store.Migrate)
	now := time.Now()
	s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: xorSealer{}, Now: func() time.Time { return now }})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	for _, days := range []int{400, 399, 398, 30, 0} {
		now = time.Now().Add(-time.Duration(days) * 24 * time.Hour)
		command(t, s, nil)
	}
	purge := func(before time.Time, limit int) int {
		n, err := s.PurgeAudit(t.Context(), before, limit)
		require.NoError(t, err)
		return n
	}
	year := time.Now().Add(-365 * 24 * time.Hour)
	require.Equal(t, 2, purge(year, 2), "a batch, the oldest first")
	require.Equal(t, 1, purge(year, 2))
	require.Zero(t, purge(year, 2))
	require.Len(t, entries(t, s, store.AuditFilter{}), 2)
	require.Equal(t, 1, purge(time.Now().Add(time.Hour), 100), "the last day stays, whatever the setting")

	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	var purges string
	require.NoError(t, conn.QueryRow(t.Context(), `select coalesce(current_setting('slipway.purges_audit', true), '')`).Scan(&purges))
	require.Empty(t, purges)
}
