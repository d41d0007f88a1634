// Package store keeps Slipway's nouns in PostgreSQL: one table a noun, a column for each value that SQL
// filters, joins or writes on every poll, and one JSON document for the rest. Updates run a closure on the
// locked row; what the closure adds (events, refresh marks, finished pending activities) is written in the same
// transaction.
package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"slipway/internal/model"
)

// Schema is the PostgreSQL schema all tables live in.
const Schema = "slipway"

// Sealer encrypts secrets before they reach the database; kind is the table, and aad binds a value to its row.
type Sealer interface {
	Seal(kind string, plain, aad []byte) []byte
	Open(kind string, sealed, aad []byte) ([]byte, error)
	// Header returns the start of everything that is sealed now: two bytes, which name the current key.
	Header() []byte
}

// Options configure a Store.
type Options struct {
	URL      string // PostgreSQL connection URL or DSN
	Sealer   Sealer
	Now      func() time.Time
	MaxConns int32 // 0: 16
	// Observe receives the events of every transaction of this process after its commit, including those that
	// were suppressed as repetitions. It must not block; it is optional.
	Observe func([]model.Event)
	// Rendering is for ShownHosts and ShownClusters; the zero value keeps no texts.
	Rendering Rendering
	// CompareSnapshots is for tests: evaluations panic when they know a host from an earlier one and its row is another.
	CompareSnapshots bool
}

// Store is the database. It is safe for concurrent use.
type Store struct {
	pool   pool
	sealer Sealer
	now    func() time.Time
	// observe is Options.Observe.
	observe   func([]model.Event)
	rendering Rendering
	snapshots snapshots
	// compareSnapshots is Options.CompareSnapshots.
	compareSnapshots bool
}

// Open connects to a database that Migrate has brought up to date.
func Open(ctx context.Context, o Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, fmt.Errorf("parse database URL: %w", err)
	}
	config.ConnConfig.RuntimeParams["search_path"] = Schema
	config.ConnConfig.RuntimeParams["application_name"] = "slipway"
	config.MaxConns = 16
	if o.MaxConns > 0 {
		config.MaxConns = o.MaxConns
	}
	connections, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to database: %w", err)
	}
	if err := connections.Ping(ctx); err != nil {
		connections.Close()
		return nil, fmt.Errorf("connect to database: %w", err)
	}
	return &Store{
		pool: pool{connections}, sealer: o.Sealer, now: o.Now, observe: o.Observe, rendering: o.Rendering,
		snapshots: newSnapshots(), compareSnapshots: o.CompareSnapshots,
	}, nil
}

// Hosts returns the host:port of the databases that a URL or DSN names; none for sockets.
func Hosts(databaseURL string) (hosts []string, err error) {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("parse database URL: %w", err)
	}
	places := []*pgconn.FallbackConfig{{Host: config.ConnConfig.Host, Port: config.ConnConfig.Port}}
	for _, at := range append(places, config.ConnConfig.Fallbacks...) {
		address := net.JoinHostPort(at.Host, strconv.Itoa(int(at.Port)))
		if !strings.HasPrefix(at.Host, "/") && !slices.Contains(hosts, address) {
			hosts = append(hosts, address)
		}
	}
	return hosts, nil
}

// Close ends all connections.
func (s *Store) Close() { s.pool.Close() }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.pool.Ping(ctx) }

// Now reads the store's clock, cut to the microseconds PostgreSQL keeps.
func (s *Store) Now() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

func (s *Store) inTx(ctx context.Context, fn func(tx pgx.Tx) error) error {
	if s.observe == nil {
		return away(pgx.BeginFunc(ctx, s.pool, fn))
	}
	var w watched
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		w = watched{Tx: tx}
		return fn(&w)
	})
	if err == nil && len(w.events) > 0 {
		s.observe(w.events)
	}
	return away(err)
}

// notFound turns "no rows" into the model's error, which names what was looked for.
func notFound(err error, what string, id any) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return model.NotFoundf("%s %v was not found", what, id)
	}
	return err
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// visit passes rows on one by one, so that a long list is never held in memory, and closes them.
func visit[T any](rows pgx.Rows, scan func(pgx.Row) (T, error), yield func(T) error) error {
	defer rows.Close()
	for rows.Next() {
		value, err := scan(rows)
		if err != nil {
			return err
		}
		if err := yield(value); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read rows: %w", err)
	}
	return nil
}
