package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/postgres"
	"slipway/internal/testing/await"
)

// holdEnv makes the test program a process that only runs a database, for the tests that
// kill such a process.
const holdEnv = "ENGINE_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdEnv); dir != "" {
		os.Exit(hold(dir))
	}
	os.Exit(m.Run())
}

func hold(dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	database, err := postgres.Start(ctx, postgres.Options{
		DataDir: dir, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready", database.PID())
	<-ctx.Done()
	return 0
}

// testLogger writes to the test's output, until the test has ended.
func testLogger(t *testing.T, level slog.Level) *slog.Logger {
	t.Helper()
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: level}))
}

// dataFolder makes a folder that an unprivileged user can reach, which t.TempDir is not.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "slipway-engine-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

func postgresOptions(t *testing.T, dir string) postgres.Options {
	t.Helper()
	return postgres.Options{DataDir: dir, Logger: testLogger(t, slog.LevelInfo), Now: time.Now}
}

// startPostgres skips the test, and says so, where no PostgreSQL is installed.
func startPostgres(t *testing.T, dir string) *postgres.Server {
	t.Helper()
	database, err := postgres.Start(await.Context(t), postgresOptions(t, dir))
	if errors.Is(err, postgres.ErrNotInstalled) {
		t.Skip("SKIP: " + err.Error())
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		select {
		case <-database.Done(): // stopped by the test
		default:
			stopPostgres(t, database)
		}
	})
	return database
}

func stopPostgres(t *testing.T, database *postgres.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), await.Limit(t))
	defer cancel()
	require.NoError(t, database.Stop(ctx))
}

// exec runs statements on a connection of its own.
func exec(t *testing.T, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(await.Context(t), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	for _, sql := range statements {
		_, err := conn.Exec(await.Context(t), sql)
		require.NoError(t, err, sql)
	}
}

// number returns what a query of one number gives.
func number(t *testing.T, url, query string) int {
	t.Helper()
	conn, err := pgx.Connect(await.Context(t), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	var n int
	require.NoError(t, conn.QueryRow(await.Context(t), query).Scan(&n))
	return n
}

// eventually polls until the condition holds.
func eventually(t *testing.T, condition func() bool, what string) {
	t.Helper()
	await.True(t, condition, what)
}

func readLine(t *testing.T, r io.Reader) string {
	t.Helper()
	var line []byte
	one := make([]byte, 1)
	for {
		_, err := r.Read(one)
		require.NoError(t, err, "read so far: %s", line)
		if one[0] == '\n' {
			return string(line)
		}
		line = append(line, one[0])
	}
}
