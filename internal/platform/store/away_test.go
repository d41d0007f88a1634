package store_test

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/store"
	"slipway/internal/testing/pgtest"
)

// line is the way to a database, which a test can cut.
type line struct {
	net.Listener
	mu   sync.Mutex
	open []net.Conn
}

// newLine returns a line to a database, and its URL on this side.
func newLine(t *testing.T, url string) (*line, string) {
	t.Helper()
	there, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &line{Listener: listener}
	t.Cleanup(l.cut)
	go func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			server, err := new(net.Dialer).DialContext(t.Context(), "unix", fmt.Sprintf("%s/.s.PGSQL.%d", there.Host, there.Port))
			if err != nil {
				_ = here.Close()
				continue
			}
			l.mu.Lock()
			l.open = append(l.open, here, server)
			l.mu.Unlock()
			go func() { _, _ = io.Copy(here, server) }()
			go func() { _, _ = io.Copy(server, here) }()
		}
	}()
	return l, fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", there.User, listener.Addr(), there.Database)
}

// cut ends all connections, and those to come.
func (l *line) cut() {
	_ = l.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.open {
		_ = conn.Close()
	}
}

func TestDatabaseThatIsAwayMakesTheServiceUnavailable(t *testing.T) {
	t.Parallel()
	l, url := newLine(t, pgtest.Migrated(t, store.Migrate))
	s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: xorSealer{}, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	h := newHost(t, s, nil)
	require.ErrorIs(t, s.Exec(t.Context(), "select pg_terminate_backend(pg_backend_pid())"), model.ErrUnavailable, "it ends")
	require.NotErrorIs(t, s.Exec(t.Context(), "select nothing from nowhere"), model.ErrUnavailable, "our mistake")
	l.cut()
	for range 2 { // connections that break, and those that are refused
		for name, call := range map[string]func() error{
			"reads one": func() error { _, err := s.Host(t.Context(), h.InfraEnvID, h.ID); return err },
			"reads many": func() error {
				return s.Hosts(t.Context(), store.HostFilter{}, func(*model.Host) error { return nil })
			},
			"writes": func() error {
				return s.CheckIn(t.Context(), store.HostCheckIn{InfraEnvID: h.InfraEnvID, HostID: uuid.New(), At: s.Now()}, func(*store.Tx) {})
			},
			"changes": func() error {
				_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(*model.Host, *store.Tx) error { return nil })
				return err
			},
		} {
			err := call()
			require.ErrorIs(t, err, model.ErrUnavailable, name)
			require.Equal(t, 503, httpapi.Status(err), name)
		}
	}
}
