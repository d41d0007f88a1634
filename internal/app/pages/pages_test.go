package pages_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/app/pages"
	"slipway/internal/model"
)

// beside serves pages beside an API of one answer, in one router as in the service. It keeps the requests of the API.
func beside(
	t *testing.T, status int, body string, header ...string,
) (get func(path string) *httptest.ResponseRecorder, asked *[]*http.Request) {
	t.Helper()
	asked = &[]*http.Request{}
	routes := chi.NewRouter()
	routes.Get("/api/slipway/v1/*", func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r)
		for n := 0; n+1 < len(header); n += 2 {
			w.Header().Set(header[n], header[n+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	routes.Mount(pages.Path, pages.New(pages.Options{
		API: routes, Token: func(*http.Request) model.Secret { return "anns" }, Log: slog.New(slog.DiscardHandler),
	}))
	return func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://slipway.example"+path, nil)
		r.RemoteAddr, r.Header["Cookie"] = "192.0.2.7:1234", []string{"slipway_session=x"}
		w := httptest.NewRecorder()
		routes.ServeHTTP(w, r)
		return w
	}, asked
}

func TestPagesAskTheAPIAsTheirVisitor(t *testing.T) {
	t.Parallel()
	get, asked := beside(t, http.StatusOK, `{"installations":[{"id":"5c1a7b8e-0000-4000-8000-000000000001","name":"<i>lab","status":"ready"}],"next_offset":100}`)
	w := get("/installations/?from=50")
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), `<a href="/installations/5c1a7b8e-0000-4000-8000-000000000001">&lt;i&gt;lab</a>`)
	require.Contains(t, w.Body.String(), `<a class="next" href="/installations/?from=100">Older</a>`)
	require.NotContains(t, w.Body.String(), "Sign out")
	require.Len(t, *asked, 1)
	r := (*asked)[0]
	require.Equal(t, "/api/slipway/v1/installations?limit=50&offset=50", r.URL.RequestURI())
	require.Contains(t, r.Header.Get("Authorization"), "anns")
	require.Empty(t, r.Header.Get("Cookie"), "the API knows no sessions")
	require.Equal(t, "192.0.2.7:1234", r.RemoteAddr, "rates of addresses are the visitor's")

	for _, wrong := range []string{"-1", "x", "99999999999999999999"} {
		get("/installations/?from=" + wrong)
		require.Equal(t, "limit=50&offset=0", (*asked)[len(*asked)-1].URL.RawQuery, wrong)
	}
	w = get("/installations")
	require.Equal(t, http.StatusFound, w.Code)
	require.Equal(t, "/installations/", w.Header().Get("Location"))
}

func TestPagesSayWhyTheyShowNothing(t *testing.T) {
	t.Parallel()
	const cluster = "/installations/5c1a7b8e-0000-4000-8000-000000000001"
	for _, c := range []struct {
		status int
		body   string
		want   int
		text   string
	}{
		{
			http.StatusNotFound, `{"code":404,"reason":"cluster x was not found"}`,
			http.StatusNotFound, "There is no such installation, or it is not yours.",
		},
		{
			http.StatusForbidden, `{"code":403,"message":"require <b>another</b> role"}`,
			http.StatusForbidden, "require &lt;b&gt;another&lt;/b&gt; role",
		},
		{http.StatusInternalServerError, `{"code":500,"reason":"canary"}`, http.StatusServiceUnavailable, "The service cannot answer now"},
		{http.StatusOK, `not JSON`, http.StatusServiceUnavailable, "The service cannot answer now"},
	} {
		get, asked := beside(t, c.status, c.body)
		w := get(cluster)
		require.Equal(t, c.want, w.Code, c)
		require.Contains(t, w.Body.String(), c.text)
		require.NotContains(t, w.Body.String(), "canary")
		require.Len(t, *asked, 1)
	}
	get, _ := beside(t, http.StatusTooManyRequests, `{"code":429,"message":"too many"}`, "Retry-After", "7")
	w := get(cluster)
	require.Equal(t, http.StatusTooManyRequests, w.Code)
	require.Equal(t, "7", w.Header().Get("Retry-After"))

	get, asked := beside(t, http.StatusOK, `{}`)
	for _, path := range []string{"/installations/none", "/installations/a/b", "/installations/%2e%2e/x"} {
		require.Equal(t, http.StatusNotFound, get(path).Code, path)
	}
	require.Empty(t, *asked)
}
