package engine_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/engine"
)

func TestCertificatesAreKeptWhileTheyServe(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	dir := filepath.Join(t.TempDir(), "temporal")
	load := func(now time.Time) map[string]string {
		t.Helper()
		require.NoError(t, engine.LoadCertificates(dir, now))
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		files := map[string]string{}
		for _, e := range entries {
			content, err := os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
			files[e.Name()] = string(content)
		}
		return files
	}
	first := load(now)
	require.Len(t, first, 5, "the key of the authority is not among them")
	require.Equal(t, first, load(now.AddDate(10, 0, 0)))

	all := func(files map[string]string, than map[string]string, why string) {
		t.Helper()
		require.Len(t, files, 5)
		for name := range files {
			require.NotEqual(t, than[name], files[name], "%s: %s", why, name)
		}
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "server.key")))
	second := load(now)
	all(second, first, "one is missing")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "client.pem"), []byte(first["client.pem"]), 0o600))
	third := load(now)
	all(third, second, "one is of another authority")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.pem"), []byte("damaged"), 0o600))
	fourth := load(now)
	all(fourth, third, "one is damaged")
	all(load(now.AddDate(19, 6, 0)), fourth, "they expire soon")
}
