package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cli"
	"slipway/internal/client/contexts"
)

// A command that runs for weeks, such as slipway kube, had the administrator's token of its start until that expired.
func TestTokenOfTheAdministratorIsReadAgainWhenItWasRenewed(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("Authorization")
		_, _ = w.Write([]byte(`[]`))
	}))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	path := filepath.Join(folder, contexts.AdminFile)
	written := time.Now()
	write := func(token string) {
		file := contexts.File{Current: "admin", Contexts: []contexts.Context{{Name: "admin", Server: server.URL, Token: token}}}
		require.NoError(t, file.Write(path))
		written = written.Add(time.Hour)
		require.NoError(t, os.Chtimes(path, written, written))
	}
	write("first")
	s := &cli.Service{DataDir: folder, Config: filepath.Join(folder, "none")}
	require.NoError(t, s.AfterApply())
	c := s.Client()
	sent := func() string {
		_, err := c.KubeObjects(t.Context())
		require.NoError(t, err)
		return <-seen
	}
	require.Equal(t, []string{"first", "first"}, []string{sent(), sent()})
	write("second")
	require.Equal(t, "second", sent())
	require.NoError(t, os.Remove(path))
	require.Equal(t, "second", sent(), "the file is being written")

	given := &cli.Service{DataDir: folder, Config: filepath.Join(folder, "none"), Token: "mine", URL: server.URL}
	write("third")
	require.NoError(t, given.AfterApply())
	c = given.Client()
	require.Equal(t, "mine", sent(), "a token that was given stays")
}
