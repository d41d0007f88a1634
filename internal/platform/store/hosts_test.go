package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/store"
)

func TestHostsOfADatabaseAreNamed(t *testing.T) {
	t.Parallel()
	for url, want := range map[string][]string{
		"postgres://ann:secret@db.example.com/slipway":                  {"db.example.com:5432"},
		"postgres://ann@db-0.example.com:5433,db-1.example.com/slipway": {"db-0.example.com:5433", "db-1.example.com:5432"},
		"host=2001:db8::7 port=6432 user=ann":                           {"[2001:db8::7]:6432"},
		"postgres:///slipway?host=/run/postgresql&user=slipway":         nil,
	} {
		hosts, err := store.Hosts(url)
		require.NoError(t, err, url)
		require.Equal(t, want, hosts, url)
	}
	_, err := store.Hosts("postgres://db.example.com:port/slipway")
	require.ErrorContains(t, err, "parse database URL")
}
