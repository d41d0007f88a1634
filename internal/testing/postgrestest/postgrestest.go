// Package postgrestest runs the service's own PostgreSQL in tests of it and of what stands on it.
package postgrestest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/user"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/postgres"
	"slipway/internal/testing/await"
)

// Logger writes to the test's output, until the test has ended.
func Logger(t *testing.T, level slog.Level) *slog.Logger {
	t.Helper()
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: level}))
}

// Folder makes a data folder that an unprivileged user can reach, which t.TempDir is not.
func Folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "slipway-engine-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// Account returns an existing user that PostgreSQL runs as where root runs the test: a test creates no user of the machine.
func Account() string {
	if _, err := user.Lookup("postgres"); err != nil {
		return "nobody"
	}
	return "postgres"
}

// Options returns options for a server in a data folder.
func Options(t *testing.T, dir string, now func() time.Time) postgres.Options {
	t.Helper()
	return postgres.Options{DataDir: dir, Account: Account(), Logger: Logger(t, slog.LevelInfo), Now: now}
}

// Start starts a server, which is stopped when the test ends unless the test has done so. It skips the test, and says so, where no
// PostgreSQL is installed.
func Start(t *testing.T, dir string, now func() time.Time) *postgres.Server {
	t.Helper()
	database, err := postgres.Start(await.Context(t), Options(t, dir, now))
	if errors.Is(err, postgres.ErrNotInstalled) {
		t.Skip("SKIP: " + err.Error())
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		select {
		case <-database.Done(): // stopped by the test
		default:
			Stop(t, database)
		}
	})
	return database
}

// Stop stops a server.
func Stop(t *testing.T, database *postgres.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), await.Limit(t))
	defer cancel()
	require.NoError(t, database.Stop(ctx))
}

// Exec runs statements on a connection of its own.
func Exec(t *testing.T, url string, statements ...string) {
	t.Helper()
	connected(t, url, func(conn *pgx.Conn) {
		for _, sql := range statements {
			_, err := conn.Exec(await.Context(t), sql)
			require.NoError(t, err, sql)
		}
	})
}

// Number returns what a query of one number gives.
func Number(t *testing.T, url, query string) (n int) {
	t.Helper()
	connected(t, url, func(conn *pgx.Conn) { require.NoError(t, conn.QueryRow(await.Context(t), query).Scan(&n)) })
	return n
}

func connected(t *testing.T, url string, use func(*pgx.Conn)) {
	t.Helper()
	conn, err := pgx.Connect(await.Context(t), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	use(conn)
}
