// Package bench_test measures the built program with its own PostgreSQL, asked over HTTP:
// costs per unit and ratios within one run (docs/performance.md).
package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/client/contexts"
	"slipway/internal/model"
	"slipway/test/built"
)

// program to measure; another build can be named to compare the two.
var program = flag.String("slipway", "../../bin/slipway", "program to measure")

// service is `slipway up` with a data folder of its own.
type service struct {
	tb  testing.TB
	dir string
	// arguments and env of `slipway up` beside the usual ones.
	arguments, env []string
	// defaults starts it with HTTPS and tokens, as without settings.
	defaults bool
	// addressSpace bounds the memory that each of its processes may map, in KiB; zero: no bound.
	addressSpace int
	command      *exec.Cmd
	api          string      // base URL
	authority    *tls.Config // trusts its certificate; nil without HTTPS
	// took is the time from the start of the process to its line that it is ready.
	took   time.Duration
	stderr bytes.Buffer
	// tables reads what the API does not tell.
	tables *pgxpool.Pool
	client *client.Client
}

// needs skips a benchmark where something it runs is missing.
func needs(tb testing.TB) {
	tb.Helper()
	if _, err := os.Stat(*program); err != nil {
		tb.Skipf("SKIP: this benchmark needs %s (make build)", *program)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if _, err := exec.LookPath("initdb"); err != nil && len(found) == 0 {
		tb.Skip("SKIP: this benchmark needs PostgreSQL (apt-get install postgresql)")
	}
}

// newService starts a service on a new data folder, until the benchmark ends.
func newService(tb testing.TB) *service {
	tb.Helper()
	return launch(&service{tb: tb})
}

func launch(s *service) *service {
	tb := s.tb
	tb.Helper()
	needs(tb)
	// Not TempDir: the folder above it is closed to the user of the database.
	dir, err := os.MkdirTemp("", "slipway-bench-")
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	s.dir = dir
	tb.Cleanup(func() {
		for line := range strings.Lines(s.stderr.String()) {
			if tb.Failed() || strings.Contains(line, "level=ERROR") {
				tb.Logf("the service said: %s", line)
			}
		}
	})
	s.start()
	tb.Cleanup(s.stop)
	return s
}

var readyLine = regexp.MustCompile(`API (https?://[^ ,]+),.* Temporal [0-9.]+:[0-9]+`)

func (s *service) start() {
	s.tb.Helper()
	usual := []string{"up", "--data-dir", s.dir, "--listen", "127.0.0.1:0", "--temporal-port", "0", "--allowed-hosts", "service.example"}
	s.command = exec.Command(*program, append(usual, s.arguments...)...)
	if s.addressSpace > 0 {
		s.command = bounded(s.addressSpace, s.command.Args)
	}
	s.command.Env = append(os.Environ(), built.ExistingUser())
	if !s.defaults {
		s.command.Env = append(s.command.Env, "AUTH_TYPE=none", "SLIPWAY_PLAIN_HTTP=true")
	}
	s.command.Env = append(s.command.Env, s.env...)
	s.stderr.Reset()
	s.command.Stderr = &s.stderr
	out, err := s.command.StdoutPipe()
	require.NoError(s.tb, err)
	begun := time.Now()
	require.NoError(s.tb, s.command.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	s.took = time.Since(begun)
	require.NoError(s.tb, err, "it said: %s", &s.stderr)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	found := readyLine.FindStringSubmatch(line)
	require.NotNil(s.tb, found, line)
	s.api = found[1]
	s.client = s.userClient(s.administrator())
	s.tables, err = pgxpool.New(context.Background(),
		"host="+filepath.Join(s.dir, "run")+" port=5432 user=slipway dbname=slipway sslmode=disable search_path=slipway")
	require.NoError(s.tb, err)
}

// administrator returns the first token of a service that asks for tokens.
func (s *service) administrator() model.Secret {
	s.tb.Helper()
	return s.context().Secret()
}

// context returns how the command line of this machine reaches the service.
func (s *service) context() contexts.Context {
	s.tb.Helper()
	file, err := contexts.Read(filepath.Join(s.dir, contexts.AdminFile))
	require.NoError(s.tb, err)
	admin, _ := file.ByName("")
	return admin
}

// bounded makes a command whose processes map at most so many KiB each.
func bounded(kib int, args []string) *exec.Cmd {
	return exec.Command("sh", append([]string{"-c", `ulimit -v "$0" && exec "$@"`, strconv.Itoa(kib)}, args...)...)
}

// userClient returns a client with a token of a user.
func (s *service) userClient(token model.Secret) *client.Client {
	s.tb.Helper()
	return s.clientWith(client.Options{UserToken: token})
}

// clientWith returns a client with a credential.
func (s *service) clientWith(options client.Options) *client.Client {
	s.tb.Helper()
	options.BaseURL = s.api
	if s.defaults {
		carrier, err := client.TransportPEM(s.context().Authority, false)
		require.NoError(s.tb, err)
		options.HTTPClient = carrier
		authorities := x509.NewCertPool()
		require.True(s.tb, authorities.AppendCertsFromPEM(s.context().Authority))
		s.authority = &tls.Config{RootCAs: authorities, ServerName: "127.0.0.1"}
	}
	return client.New(options)
}

// stop ends the service as its user would.
func (s *service) stop() {
	s.tb.Helper()
	if s.command == nil {
		return
	}
	s.tables.Close()
	require.NoError(s.tb, s.command.Process.Signal(syscall.SIGTERM))
	require.NoError(s.tb, s.command.Wait(), "it said: %s", &s.stderr)
	s.command = nil
}

// settled waits until no cluster is waiting to be evaluated, so that what follows is
// not charged for what came before.
func (s *service) settled() {
	s.tb.Helper()
	const query = `select count(*) from pulses where refresh_at is not null`
	eventually(s.tb, "clusters evaluated", 5*time.Minute, func() bool { return count(s, query) == 0 })
}

func count(s *service, query string, args ...any) (n int) {
	s.tb.Helper()
	require.NoError(s.tb, s.tables.QueryRow(s.tb.Context(), query, args...).Scan(&n))
	return n
}

// eventually waits for a condition that nothing announces.
func eventually(tb testing.TB, what string, limit time.Duration, met func() bool) {
	tb.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(limit); !met(); <-ticker.C {
		require.True(tb, time.Now().Before(deadline), "not within %s: %s", limit, what)
	}
}

// statuses returns how many hosts have which status.
func (s *service) statuses() (text string) {
	s.tb.Helper()
	const query = `select string_agg(status || ' ' || n, ', ') from (select status, count(*) as n from hosts where deleted_at is null group by status) s`
	require.NoError(s.tb, s.tables.QueryRow(s.tb.Context(), query).Scan(&text))
	return text
}
