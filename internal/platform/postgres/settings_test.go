package postgres_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/postgres"
	"slipway/internal/testing/await"
	"slipway/internal/testing/postgrestest"
)

// debianPrograms is where Debian keeps the programs of each version.
const debianPrograms = "/usr/lib/postgresql/*/bin"

// withoutLZ4 makes a folder with the programs of a PostgreSQL that was built without lz4: its server ends as such a one does (guc.c:
// "invalid value for parameter").
func withoutLZ4(t *testing.T) string {
	t.Helper()
	folders, err := filepath.Glob(debianPrograms)
	require.NoError(t, err)
	if len(folders) == 0 {
		t.Skip("SKIP: this test needs PostgreSQL in " + debianPrograms)
	}
	dir := filepath.Join(postgrestest.Folder(t), "bin")
	require.NoError(t, os.Mkdir(dir, 0o755)) //nolint:gosec // the server runs as another user
	programs, err := filepath.Glob(filepath.Join(folders[len(folders)-1], "*"))
	require.NoError(t, err)
	for _, program := range programs {
		if filepath.Base(program) != "postgres" {
			require.NoError(t, os.Symlink(program, filepath.Join(dir, filepath.Base(program))))
		}
	}
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *=lz4*) exit 1;; esac\nexec %s/postgres \"$@\"\n", folders[len(folders)-1])
	require.NoError(t, os.WriteFile(filepath.Join(dir, "postgres"), []byte(script), 0o755)) //nolint:gosec // as above
	return dir
}

// shown returns a setting of the server.
func shown(t *testing.T, url, name string) (value string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	require.NoError(t, conn.QueryRow(t.Context(), "select current_setting($1)", name).Scan(&value))
	return value
}

func TestPostgresCompressesWithLZ4WhereItWasBuiltWithIt(t *testing.T) {
	t.Parallel()
	t.Run("with", func(t *testing.T) {
		t.Parallel()
		database := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
		if postgrestest.Number(t, database.URL(), "select current_setting('server_version_num')::int") < 150000 {
			t.Skip("SKIP: lz4 for the log came with PostgreSQL 15")
		}
		require.Equal(t, "lz4", shown(t, database.URL(), "wal_compression"))
		require.Equal(t, "lz4", shown(t, database.URL(), "default_toast_compression"))
	})
	t.Run("without", func(t *testing.T) {
		t.Parallel()
		options := postgrestest.Options(t, postgrestest.Folder(t), time.Now)
		options.BinFolders = []string{withoutLZ4(t)}
		database, err := postgres.Start(await.Context(t), options)
		require.NoError(t, err)
		t.Cleanup(func() { postgrestest.Stop(t, database) })
		require.Contains(t, []string{"on", "pglz"}, shown(t, database.URL(), "wal_compression"))
		require.Equal(t, "pglz", shown(t, database.URL(), "default_toast_compression"))
	})
}
