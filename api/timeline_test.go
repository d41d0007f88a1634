package api_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/app/pages"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// pagesOf serves the pages beside the API of a service; its visitors are the users of their header.
func pagesOf(t *testing.T, l *local) http.Handler {
	t.Helper()
	target, err := url.Parse(l.closed.url)
	require.NoError(t, err)
	return pages.New(pages.Options{
		API: httputil.NewSingleHostReverseProxy(target), SignOut: "/installations/logout", Log: slog.New(slog.DiscardHandler),
		Token: func(r *http.Request) model.Secret { return model.Secret(r.Header.Get("Authorization")) },
	})
}

// browse asks for a page as a user.
func browse(t *testing.T, shown http.Handler, path string, user []string) (int, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://service.example"+path, nil)
	if len(user) > 0 {
		r.Header.Set(user[0], user[1])
	}
	w := httptest.NewRecorder()
	shown.ServeHTTP(w, r)
	policy := w.Header().Get("Content-Security-Policy")
	if w.Code != http.StatusFound {
		require.Contains(t, policy, "default-src 'none'")
		require.NotContains(t, policy, "script")
		require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		require.Contains(t, w.Body.String(), `<meta name="viewport" content="width=device-width, initial-scale=1">`)
		require.NotContains(t, w.Body.String(), "<script")
	}
	return w.Code, w.Body.String()
}

// history makes a cluster of a user with a host that ran steps, and events. Some of its texts are an attacker's, and others secret.
func history(t *testing.T, l *local, user []string, name string) (cluster, host uuid.UUID) {
	t.Helper()
	var c wire.Cluster
	body := clusterParams(name)
	body["pull_secret"] = strings.Replace(pullSecret, "r@r.com", "canary-pull@example.com", 1)
	l.closed.want(http.StatusCreated, http.MethodPost, "/v2/clusters", body, user...).JSON(&c)
	env := l.infraEnv(uuid.Nil)
	h := l.host(env.ID)
	l.changeHost(env.ID, h.ID, func(h *model.Host) {
		h.ClusterID, h.Status, h.Stage = &c.ID, model.HostInstallingInProgress, model.Stage("Writing image to disk")
		h.Inventory.Hostname = `<b onclick="x()">liar` + "\u202e\x1b[2J"
		h.StatusInfo = `<img src=x onerror=alert(1)>`
		h.IgnitionEndpointToken = "canary-ignition"
	})
	for n, step := range []string{"installation-disk-speed-check", "install"} {
		_, err := l.store.ArmActivity(t.Context(), model.PendingActivity{
			ID: fmt.Sprintf("%s-%s", step, h.ID), Kind: model.ActivityStep, ClusterID: c.ID, InfraEnvID: &env.ID, HostID: &h.ID, Type: step,
			Args: []string{"canary-args"}, WorkflowID: "host:" + h.ID.String(), RunID: "run", ActivityID: fmt.Sprint(n), TaskToken: []byte("t"),
			Attempt: 1, HeartbeatEvery: time.Minute,
		})
		require.NoError(t, err)
	}
	_, err := l.store.UpdateHost(t.Context(), env.ID, h.ID, func(h *model.Host, tx *store.Tx) error {
		tx.StepReplied(h, store.Reply{
			StepID: fmt.Sprintf("install-%s", h.ID), ExitCode: 3, Output: "canary-output", Error: "canary-error",
		})
		for n := range 120 {
			tx.Event(model.Event{
				Name: "event", Category: "user", Severity: model.SeverityWarning, ClusterID: &c.ID, HostID: &h.ID, At: tx.Now(),
				Message: fmt.Sprintf("event %d of %s </li><script>alert(1)</script>", n, name), Props: map[string]any{"note": "canary-props"},
			})
		}
		return nil
	})
	require.NoError(t, err)
	return c.ID, h.ID
}

func TestPagesShowUsersTheirOwnInstallations(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	shown := pagesOf(t, l)
	ann, eve, viewer := l.as("ann", "acme", auth.RoleUser), l.as("eve", "evil", auth.RoleUser), l.as("vic", "", auth.RoleViewer)
	own, host := history(t, l, ann, "of-ann")
	other, _ := history(t, l, eve, "of-eve")

	status, list := browse(t, shown, "/installations/", ann)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, list, `<a href="/installations/`+own.String()+`">of-ann</a>`)
	require.NotContains(t, list, "of-eve")
	status, page := browse(t, shown, "/installations/"+own.String(), ann)
	require.Equal(t, http.StatusOK, status)
	for _, text := range []string{
		"of-ann", "Writing image to disk", "installation-disk-speed-check", "reported, exit code 3", "installing-in-progress",
		"&lt;b onclick=&#34;x()&#34;&gt;liar\ufffd\ufffd[2J", "&lt;img src=x onerror=alert(1)&gt;", "event 119 of of-ann &lt;/li&gt;",
	} {
		require.Contains(t, page, text)
	}
	for _, raw := range []string{"<b onclick", "<img", "\x1b", "\u202e", "of-eve"} {
		require.NotContains(t, page, raw)
	}
	require.NotEqual(t, uuid.Nil, host)

	// Of another tenant, of nothing, and of no id.
	for _, path := range []string{other.String(), uuid.NewString(), "none", "..%2f" + own.String()} {
		status, page := browse(t, shown, "/installations/"+path, ann)
		require.Equal(t, http.StatusNotFound, status, path)
		require.NotContains(t, page, "of-eve")
	}
	for _, id := range []uuid.UUID{own, other} {
		status, _ := browse(t, shown, "/installations/"+id.String(), viewer)
		require.Equal(t, http.StatusOK, status, "viewers see all, as in the API")
	}
	status, _ = browse(t, shown, "/installations/"+own.String(), nil)
	require.Equal(t, http.StatusUnauthorized, status)
	status, _ = browse(t, shown, "/installations/"+own.String(), l.as("hub", "", auth.RoleKube))
	require.Equal(t, http.StatusForbidden, status)
}

func TestTimelinesHaveNoSecrets(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	shown := pagesOf(t, l)
	ann, admin := l.as("ann", "acme", auth.RoleUser), l.as("root", "", auth.RoleAdmin)
	own, _ := history(t, l, ann, "of-ann")
	for _, user := range [][]string{ann, admin, l.as("vic", "", auth.RoleViewer)} {
		_, list := browse(t, shown, "/installations/", user)
		_, page := browse(t, shown, "/installations/"+own.String(), user)
		answer := l.closed.want(http.StatusOK, http.MethodGet, "/api/slipway/v1/installations", nil, user...)
		for name, text := range map[string]string{"list": list, "page": page, "answer": string(answer.Body)} {
			require.NotContains(t, text, "canary", name)
		}
		// Properties of events are as in the v2 API; nothing else of what a step gets and gives is shown.
		timeline := l.closed.want(http.StatusOK, http.MethodGet, ownClusterPath(own)+"/timeline", nil, user...)
		for _, secret := range []string{"canary-pull", "canary-ignition", "canary-args", "canary-output", "canary-error"} {
			require.NotContains(t, string(timeline.Body), secret)
		}
		require.Contains(t, string(timeline.Body), "canary-props")
	}
}

func TestTimelinesComeInPages(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	shown := pagesOf(t, l)
	ann := l.as("ann", "acme", auth.RoleUser)
	own, _ := history(t, l, ann, "of-ann")
	env := l.infraEnv(uuid.Nil)
	for range 21 {
		h := l.host(env.ID)
		l.changeHost(env.ID, h.ID, func(h *model.Host) { h.ClusterID = &own })
	}
	seen, offsets := map[string]bool{}, 0
	for offset := 0; ; offsets++ {
		var page wire.Timeline
		l.closed.want(http.StatusOK, http.MethodGet, fmt.Sprint(ownClusterPath(own), "/timeline?events_offset=", offset), nil, ann...).JSON(&page)
		require.LessOrEqual(t, len(page.Events), 50)
		require.Len(t, page.Hosts, 20)
		require.Equal(t, 20, page.NextHosts)
		for _, e := range page.Events {
			seen[e.Message] = true
		}
		if offset = page.NextEvents; offset == 0 {
			break
		}
	}
	require.GreaterOrEqual(t, len(seen), 120)
	require.GreaterOrEqual(t, offsets, 2)
	var rest wire.Timeline
	l.closed.want(http.StatusOK, http.MethodGet, ownClusterPath(own)+"/timeline?hosts_offset=20&limit=1", nil, ann...).JSON(&rest)
	require.Len(t, rest.Hosts, 2)
	require.Zero(t, rest.NextHosts)
	require.Len(t, rest.Events, 1)
	_, page := browse(t, shown, "/installations/"+own.String()+"?events=50", ann)
	require.Contains(t, page, `?hosts=20&amp;events=50`)
	require.Contains(t, page, `?events=100&amp;hosts=0`)

	for n := range 3 {
		l.closed.want(http.StatusCreated, http.MethodPost, "/v2/clusters", clusterParams(fmt.Sprint("more-", n)), ann...)
	}
	var list wire.Installations
	l.closed.want(http.StatusOK, http.MethodGet, "/api/slipway/v1/installations?limit=3", nil, ann...).JSON(&list)
	require.Len(t, list.Installations, 3)
	require.Equal(t, 3, list.Next)
	require.Equal(t, "more-2", list.Installations[0].Name)
	var last wire.Installations
	l.closed.want(http.StatusOK, http.MethodGet, "/api/slipway/v1/installations?limit=3&offset=3", nil, ann...).JSON(&last)
	require.Len(t, last.Installations, 1)
	require.Zero(t, last.Next)
	for _, wrong := range []string{"limit=0", "limit=201", "offset=-1", "limit=x"} {
		l.closed.want(http.StatusBadRequest, http.MethodGet, "/api/slipway/v1/installations?"+wrong, nil, ann...)
	}
}
