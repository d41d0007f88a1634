package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/store"
	"slipway/internal/testing/await"
	"slipway/internal/testing/unraced"
	"slipway/internal/wire"
)

const auditPath = "/api/slipway/v1/audit"

// secretReads are the reads that are in the audit, written out by hand.
var secretReads = []string{
	"v2GetHostIgnition", "v2DownloadHostIgnition", "v2DownloadInfraEnvFiles", "DownloadMinimalInitrd", "GetInfraEnvPresignedFileURL",
	"GetInfraEnvDownloadURL", "V2GetPresignedForClusterCredentials", "V2GetPresignedForClusterFiles", "V2GetCredentials",
	"V2DownloadClusterCredentials", "V2DownloadClusterFiles", "V2DownloadClusterLogs", "v2GetClusterInstallConfig",
	"v2DownloadClusterManifest",
}

// sql runs a statement in the database of the service.
func (s *service) sql(statement string) {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.database)
	require.NoError(s.t, err)
	defer conn.Close(context.WithoutCancel(s.t.Context()))
	_, err = conn.Exec(s.t.Context(), statement)
	require.NoError(s.t, err)
}

// rows lists the audit, oldest first.
func (s *service) rows(f store.AuditFilter) []model.AuditEntry {
	s.t.Helper()
	f.Limit = 10_000
	list, err := s.store.AuditEntries(s.t.Context(), f)
	require.NoError(s.t, err)
	slices.Reverse(list)
	return list
}

// rowsOfDoing returns the rows that a request adds.
func (s *service) rowsOfDoing(do func()) []model.AuditEntry {
	s.t.Helper()
	before := s.rows(store.AuditFilter{})
	do()
	return s.rows(store.AuditFilter{})[len(before):]
}

// canaried returns a request with secrets in every place that can hold one.
func canaried(c call, token string) call {
	separator := "?"
	if strings.Contains(c.path, "?") {
		separator = "&"
	}
	c.path += separator + "note=" + canary
	c.headers = append(slices.Clone(c.headers), "Authorization", "Bearer "+token, "X-Note", canary, "Cookie", "a="+canary,
		"User-Agent", canary, "Referer", "https://"+canary+".example")
	return c
}

// Each operation is asked by an administrator, by a viewer and by machines: commands and reads of secrets are in one row, with the
// user's name and the status of the answer; reads and machines are in none, and no secret is in any.
func TestEachCommandIsInTheAuditOnce(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	l := newPerHost(t)
	w := &fixture{l.service}
	table := exercises()
	for id, e := range ownExercises {
		table[id] = e
	}
	for id, c := range unboundExercises {
		table[id] = exercise{ok: func(*fixture) call { return c }}
	}
	// A deleted cluster has no tokens of its own: here the operation is refused for the state of the cluster.
	table["undeleteCluster"] = exercise{ok: func(w *fixture) call { return post(ownClusterPath(w.defined())+"/undelete", nil) }}
	users := map[string]string{
		"carol": l.userToken(model.UserToken{UserName: "carol", OrgID: "acme", Role: "admin"}),
		"vera":  l.userToken(model.UserToken{UserName: "vera", Role: "viewer"}),
	}
	operations, err := api.Operations()
	require.NoError(t, err)
	recorded, refused, silent := 0, 0, 0
	for _, o := range operations {
		e, known := table[o.ID]
		if !known {
			e = table[strings.ToLower(o.ID[:1])+o.ID[1:]]
		}
		for user, token := range users {
			c := e.ok(w)
			w.plant(objectsOf(c.path))
			var r reply
			added := l.rowsOfDoing(func() {
				c := canaried(c, token)
				r = l.closed.send(c.method, c.path, c.body, c.headers...)
			})
			forMachines := !slices.Contains(o.Schemes, auth.SchemeUser) // the user's token is not looked at
			if forMachines || c.method == http.MethodGet && !slices.Contains(secretReads, o.ID) {
				require.Empty(t, added, "%s as %s", o.ID, user)
				require.Equal(t, forMachines, r.Status == http.StatusUnauthorized, "%s: %d", o.ID, r.Status)
				silent++
				continue
			}
			require.Len(t, added, 1, "%s as %s: %d", o.ID, user, r.Status)
			row, object := added[0], objectsOf(c.path)
			require.Equal(t, []any{user, o.ID, c.method, o.Path, r.Status},
				[]any{row.UserName, row.Operation, row.Method, row.Path, row.Status}, "%s", o.ID)
			require.Equal(t, r.Header.Get("X-Request-Id"), row.RequestID)
			require.Equal(t, "127.0.0.1", row.Address)
			require.Equal(t, model.AuditToken, row.Credential)
			require.NotNil(t, row.TokenID)
			require.False(t, row.EndedAt.IsZero())
			require.Equal(t, r.Status < 400, row.Outcome == model.AuditOK, "%s: %d is %s", o.ID, r.Status, row.Outcome)
			if object.InfraEnvID != uuid.Nil {
				require.Equal(t, object.InfraEnvID, deref(row.InfraEnvID), o.ID)
				require.Equal(t, object.HostID, deref(row.HostID), o.ID)
			}
			if object.ClusterID != uuid.Nil {
				require.Equal(t, object.ClusterID, deref(row.ClusterID), o.ID)
			}
			if row.Outcome == model.AuditRefused {
				refused++
			}
			recorded++
		}
		for _, role := range []auth.Role{auth.RoleAgent, auth.RoleRegistrar, auth.RoleController} {
			c := e.ok(w)
			token := l.ownToken(w, role, objectsOf(c.path))
			added := l.rowsOfDoing(func() {
				l.closed.send(c.method, c.path, c.body, append(slices.Clone(c.headers), roles[role], token)...)
			})
			require.Empty(t, added, "%s as %s", o.ID, role)
			silent++
		}
	}
	t.Logf("requests in the audit %d, of them refused %d; in no row %d", recorded, refused, silent)
	require.GreaterOrEqual(t, recorded, 100)
	require.Greater(t, refused, 50)
	l.searchAudit(canary, users["carol"], users["vera"], "dXNlcjpwYXNzd29yZAo", "slipway_session", "signature=")
}

// searchAudit looks for secrets in all rows.
func (s *service) searchAudit(secrets ...string) {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.database)
	require.NoError(s.t, err)
	defer conn.Close(context.WithoutCancel(s.t.Context()))
	for _, secret := range secrets {
		var found []string
		rows, err := conn.Query(s.t.Context(), `select a::text from slipway.audit a where position($1 in a::text) > 0`, secret)
		require.NoError(s.t, err)
		found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(s.t, err)
		require.Empty(s.t, found)
	}
}

func TestRowsNameWhatACommandMade(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	ann := l.as("ann", "", auth.RoleAdmin)
	last := func() model.AuditEntry {
		rows := l.rows(store.AuditFilter{User: "ann"})
		return rows[len(rows)-1]
	}
	var c wire.Cluster
	l.closed.want(http.StatusCreated, http.MethodPost, "/v2/clusters", map[string]any{
		"name": "lab", "openshift_version": "4.22", "pull_secret": pullSecret,
	}, ann...).JSON(&c)
	require.Equal(t, c.ID, deref(last().ClusterID))
	var e wire.InfraEnv
	l.closed.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", map[string]any{
		"name": "env", "pull_secret": pullSecret, "cluster_id": c.ID,
	}, ann...).JSON(&e)
	require.Equal(t, []uuid.UUID{c.ID, e.ID}, []uuid.UUID{deref(last().ClusterID), deref(last().InfraEnvID)})
	h := l.host(e.ID)
	l.closed.want(http.StatusCreated, http.MethodPatch, hostPath(e.ID, h.ID), map[string]any{"host_name": "a"}, ann...)
	require.Equal(t, c.ID, deref(last().ClusterID), "the cluster of the host")
	l.closed.want(http.StatusAccepted, http.MethodPost, ownClusterPath(c.ID)+"/commands/pause", nil, ann...)
	require.Equal(t, "pause", last().Subject)
	l.closed.send(http.MethodPost, ownClusterPath(c.ID)+"/commands/"+canary, nil, ann...)
	require.Empty(t, last().Subject, "no command of the document")
	var token wire.UserToken
	l.closed.want(http.StatusCreated, http.MethodPost, "/api/slipway/v1/tokens", map[string]any{"user_name": "bob"}, ann...).JSON(&token)
	require.Equal(t, token.ID.String(), last().Subject)
	l.closed.want(http.StatusNoContent, http.MethodDelete, "/api/slipway/v1/tokens/"+token.ID.String(), nil, ann...)
	require.Equal(t, []any{"RevokeToken", token.ID.String()}, []any{last().Operation, last().Subject})
	l.installed(c.ID)
	l.closed.want(http.StatusOK, http.MethodGet, clusterPath(c.ID)+"/downloads/credentials?file_name=kubeadmin-password", nil, ann...)
	require.Equal(t, "kubeadmin-password", last().Subject)
}

// Addresses that open files of a cluster are in the audit without a user; machines boot with addresses of an InfraEnv.
func TestReadsBySignedAddressesAreInTheAudit(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	ann := l.as("ann", "", auth.RoleAdmin)
	c, e := l.cluster(nil), l.infraEnv(uuid.Nil)
	l.installed(c.ID)
	address := l.closed.presigned(clusterPath(c.ID)+"/downloads/credentials-presigned?file_name=kubeconfig", ann...)
	added := l.rowsOfDoing(func() { require.Equal(t, http.StatusOK, l.closed.follow(address).Status) })
	require.Len(t, added, 1)
	require.Equal(t, []any{"", model.AuditAddress, "address", "kubeconfig", c.ID, 200},
		[]any{added[0].UserName, added[0].Credential, added[0].Role, added[0].Subject, deref(added[0].ClusterID), added[0].Status})
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	l.searchAudit(parsed.Query().Get("signature"))

	boot := l.closed.presigned(envPath(e.ID)+"/downloads/files-presigned?file_name=discovery.ign", ann...)
	require.Empty(t, l.rowsOfDoing(func() { require.Equal(t, http.StatusOK, l.closed.follow(boot).Status) }))
	require.Empty(t, l.rowsOfDoing(func() {
		require.Equal(t, http.StatusUnauthorized, l.closed.follow(strings.Replace(address, "signature=", "signature=x", 1)).Status)
	}), "an invalid address is of no known caller")
}

// Anonymous callers could fill the table; so could a user with commands that are refused.
func TestRefusalsDoNotFillTheAudit(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	l := newLocal(t, auth.ModeLocal, func(o *api.Options) { o.Now = func() time.Time { return begin } })
	id := l.cluster(nil).ID
	require.Empty(t, l.rowsOfDoing(func() {
		for _, headers := range [][]string{nil, {"Authorization", "Bearer x"}} {
			r := l.closed.send(http.MethodPost, clusterPath(id)+"/actions/install", nil, headers...)
			require.Equal(t, http.StatusUnauthorized, r.Status)
		}
	}))
	vera := l.as("vera", "", auth.RoleViewer)
	const requests, bound = 230, 200
	for range requests {
		r := l.closed.send(http.MethodPost, clusterPath(id)+"/actions/install", nil, vera...)
		require.Equal(t, http.StatusForbidden, r.Status)
	}
	require.Len(t, l.rows(store.AuditFilter{User: "vera"}), bound)
}

func TestCommandsNeedTheAudit(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	ann, vera := l.as("ann", "", auth.RoleAdmin), l.as("vera", "", auth.RoleViewer)
	c := l.cluster(nil)
	l.installed(c.ID)
	l.sql(`alter table slipway.audit rename to away`)
	before := len(l.orchestrator.commands)
	for _, r := range []reply{
		l.closed.send(http.MethodPost, ownClusterPath(c.ID)+"/commands/pause", nil, ann...),
		l.closed.send(http.MethodPatch, clusterPath(c.ID), map[string]any{"name": "other"}, ann...),
		l.closed.send(http.MethodDelete, clusterPath(c.ID), nil, ann...),
		l.closed.send(http.MethodPost, "/api/slipway/v1/tokens", map[string]any{"user_name": "bob"}, ann...),
		l.closed.send(http.MethodGet, clusterPath(c.ID)+"/downloads/credentials?file_name=kubeconfig", nil, ann...),
	} {
		require.Equal(t, http.StatusServiceUnavailable, r.Status, "%s", r.Body)
		require.NotContains(t, string(r.Body), "content of")
		require.NotContains(t, string(r.Body), "relation", "the log has the reason")
	}
	require.Len(t, l.orchestrator.commands, before)
	require.Equal(t, "prod", l.readCluster(c.ID).Name)
	tokens, err := l.store.Tokens(t.Context(), store.TokenFilter{UserName: "bob"})
	require.NoError(t, err)
	require.Empty(t, tokens)
	require.Equal(t, http.StatusForbidden, l.closed.send(http.MethodDelete, clusterPath(c.ID), nil, vera...).Status, "refused as ever")
	l.closed.want(http.StatusOK, http.MethodGet, clusterPath(c.ID), nil, ann...)

	l.sql(`alter table slipway.away rename to audit`)
	l.closed.want(http.StatusAccepted, http.MethodPost, ownClusterPath(c.ID)+"/commands/pause", nil, ann...)
}

// An outcome that cannot be written leaves the row of the command without one, as a kill does. The command is done and answered.
func TestCommandWithoutAnOutcomeIsShownAsUnknown(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	ann := l.as("ann", "", auth.RoleAdmin)
	l.sql(`create function pg_temp_refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end';
		create trigger refuse before update on slipway.audit for each row execute function pg_temp_refuse()`)
	l.closed.want(http.StatusAccepted, http.MethodPost, ownClusterPath(l.cluster(nil).ID)+"/commands/pause", nil, ann...)
	var page wire.Audit
	l.closed.want(http.StatusOK, http.MethodGet, auditPath+"?outcome=unknown&user=ann", nil, ann...).JSON(&page)
	require.Len(t, page.Entries, 1)
	require.Equal(t, []any{"CommandCluster", "unknown", 0}, []any{page.Entries[0].Operation, page.Entries[0].Outcome, page.Entries[0].Status})
	require.Nil(t, page.Entries[0].EndedAt)
	require.Contains(t, l.logged.String(), "outcome not in the audit")
}

// The row is there before the handler does anything: what a kill leaves in between is this row.
func TestRowIsWrittenBeforeTheCommandHasAnEffect(t *testing.T) {
	t.Parallel()
	waiting := &waitingOrchestrator{reached: make(chan struct{}), proceed: make(chan struct{})}
	l := newLocal(t, auth.ModeLocal, func(o *api.Options) { o.Orchestrator = waiting })
	waiting.recordingOrchestrator = l.orchestrator
	ann := l.as("ann", "", auth.RoleAdmin)
	id, answered := l.cluster(nil).ID, make(chan reply, 1)
	go func() { answered <- l.closed.send(http.MethodPost, ownClusterPath(id)+"/commands/pause", nil, ann...) }()
	await.Receive(t, waiting.reached)
	require.Equal(t, model.AuditUnknown, l.rows(store.AuditFilter{User: "ann"})[0].Outcome)
	close(waiting.proceed)
	require.Equal(t, http.StatusAccepted, await.Receive(t, answered).Status)
	require.Equal(t, model.AuditOK, l.rows(store.AuditFilter{User: "ann"})[0].Outcome)
}

// waitingOrchestrator holds commands until it may proceed.
type waitingOrchestrator struct {
	*recordingOrchestrator
	reached, proceed chan struct{}
}

func (o *waitingOrchestrator) ClusterCommand(ctx context.Context, id uuid.UUID, command string) error {
	close(o.reached)
	<-o.proceed
	return o.recordingOrchestrator.ClusterCommand(ctx, id, command)
}

func TestCommandThatPanicsHasFailed(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	ann := l.as("ann", "", auth.RoleAdmin)
	id := l.cluster(nil).ID
	l.orchestrator.panics = true
	l.closed.want(http.StatusInternalServerError, http.MethodPost, ownClusterPath(id)+"/commands/pause", nil, ann...)
	row := l.rows(store.AuditFilter{User: "ann"})[0]
	require.Equal(t, []any{model.AuditFailed, 500}, []any{row.Outcome, row.Status})
}

func TestUsersSeeTheirOwnRowsOnly(t *testing.T) {
	t.Parallel()
	l := newLocal(t, auth.ModeLocal)
	mine := l.as("bob", "acme", auth.RoleUser)
	callers := map[string][]string{
		"admin": l.as("ann", "", auth.RoleAdmin), "mine": mine, "same name": l.as("bob", "", auth.RoleUser),
		"same organization": l.as("carl", "acme", auth.RoleUser), "viewer": l.as("vera", "", auth.RoleViewer),
	}
	l.closed.want(http.StatusCreated, http.MethodPost, "/v2/clusters", map[string]any{
		"name": "lab", "openshift_version": "4.22", "pull_secret": pullSecret,
	}, mine...)
	for who, headers := range callers {
		var page wire.Audit
		l.closed.want(http.StatusOK, http.MethodGet, auditPath+"?user=bob", nil, headers...).JSON(&page)
		want := 0
		if who == "admin" || who == "mine" {
			want = 1
		}
		require.Len(t, page.Entries, want, who)
	}
}

func TestAuditIsReadInPages(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for range 5 {
		s.cluster(nil)
	}
	var ids []int64
	token := ""
	for {
		var page wire.Audit
		s.want(http.StatusOK, http.MethodGet, auditPath+"?limit=2&page_token="+token, nil).JSON(&page)
		for _, e := range page.Entries {
			ids = append(ids, e.ID)
			require.Equal(t, []string{"admin", "none"}, []string{e.UserName, e.Credential}, "mode none knows no user")
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	require.Len(t, ids, 5)
	require.IsDecreasing(t, ids)
	for _, query := range []string{
		"limit=0", "limit=1001", "limit=x", "page_token=x", "page_token=-1", "outcome=x", "since=yesterday", "until=1", "cluster_id=x",
	} {
		s.send(http.MethodGet, auditPath+"?"+query, nil).Reason(http.StatusBadRequest)
	}
	day := time.Now().Add(-24 * time.Hour).UTC().Format(time.RFC3339)
	for query, want := range map[string]int{"since=" + day: 5, "until=" + day: 0} {
		var page wire.Audit
		s.want(http.StatusOK, http.MethodGet, auditPath+"?"+query, nil).JSON(&page)
		require.Len(t, page.Entries, want, query)
	}
}

// What a controller decides about certificate requests is an event of its cluster and a row of the audit.
func TestDecisionsAboutCertificateRequestsAreInTheAudit(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	id := l.cluster(nil).ID
	l.changeCluster(id, func(c *model.Cluster) { c.Status = model.ClusterInstalling })
	send := func(name string) {
		l.closed.want(http.StatusCreated, http.MethodPost, "/v2/events", map[string]any{
			"name": name, "cluster_id": id, "severity": "info", "category": "user", "message": "Certificate request csr-1: because",
			"event_time": now(), "props": `{"certificate_request":"csr-1"}`,
		}, "X-Secret-Key", l.controllerToken(id))
	}
	for name, outcome := range map[string]model.AuditOutcome{
		"certificate_request_approved": model.AuditOK, "certificate_request_not_approved": model.AuditRefused,
	} {
		added := l.rowsOfDoing(func() { send(name) })
		require.Len(t, added, 1, name)
		row := added[0]
		require.Equal(t, []any{"controller of cluster prod", "controller", model.AuditMachine, name, "csr-1", outcome, id},
			[]any{row.UserName, row.Role, row.Credential, row.Operation, row.Subject, row.Outcome, deref(row.ClusterID)})
		require.Contains(t, row.Detail, "because")
		require.False(t, row.EndedAt.IsZero())
	}
	require.Empty(t, l.rowsOfDoing(func() { send("reboots_for_node") }))
	counts, err := l.store.CountEvents(t.Context(), store.EventFilter{ClusterID: id, Message: "certificate request"})
	require.NoError(t, err)
	require.Equal(t, 3, counts.Total)
	var page wire.Audit
	l.want(http.StatusOK, http.MethodGet, fmt.Sprintf("%s?cluster_id=%s&outcome=refused", auditPath, id), nil).JSON(&page)
	require.Len(t, page.Entries, 1)
}

// Documents and table agree about which reads are in the audit.
func TestReadsOfSecretsAreReads(t *testing.T) {
	t.Parallel()
	operations, err := api.Operations()
	require.NoError(t, err)
	for _, o := range operations {
		if slices.Contains(secretReads, o.ID) {
			require.Equal(t, http.MethodGet, o.Method, o.ID)
			require.NotContains(t, admission.Allowed(o.ID), auth.RoleViewer, "%s: a viewer reads no secrets", o.ID)
		}
	}
}
