package process_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/app/process"
)

// overSocket reads a page of a server at a socket.
func overSocket(t *testing.T, path, page string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	t.Cleanup(client.CloseIdleConnections)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+page, http.NoBody)
	require.NoError(t, err)
	answer, err := client.Do(r)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(body)
}

func TestProfilesAreServedToTheUserOfTheProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "profiles.sock")
	stop, err := process.ServeProfiles(path)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.ModeSocket|0o600, info.Mode())
	require.Contains(t, overSocket(t, path, "/debug/pprof/heap?debug=1"), "heap profile: ")
	require.Contains(t, overSocket(t, path, "/debug/pprof/goroutine?debug=1"), "TestProfilesAreServedToTheUserOfTheProcess")

	again, err := process.ServeProfiles(path) // as after kill -9
	require.NoError(t, err)
	require.Contains(t, overSocket(t, path, "/debug/pprof/"), "heap")
	again()
	require.NoFileExists(t, path)
	stop()
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, left)

	require.NoError(t, os.WriteFile(path, []byte("data"), 0o600))
	_, err = process.ServeProfiles(path)
	require.EqualError(t, err, "serve profiles at "+path+": require a socket or nothing there, found another file")
	_, err = process.ServeProfiles(filepath.Join(path, "no", "folder"))
	require.Error(t, err)
}
