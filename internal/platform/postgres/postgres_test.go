package postgres_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/postgres"
	"slipway/internal/testing/postgrestest"
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
		DataDir: dir, Account: postgrestest.Account(), Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready", database.PID())
	<-ctx.Done()
	return 0
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
