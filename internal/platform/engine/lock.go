package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// ErrEngineHeld is returned when another process runs the Temporal server on this database. Two servers would
// not fail: they would take history shards from each other and slow everything down.
var ErrEngineHeld = errors.New("another process runs the Temporal server on this database")

// The engine lock: an advisory lock of PostgreSQL, held by a session of its own for as
// long as the server runs.
const (
	lockClass  = 0x511b
	lockObject = 0x7e4d
	// lockPatience covers a predecessor that was killed a moment ago: the database needs some time to detect
	// that.
	lockPatience = 5 * time.Second
	lockRetry    = 200 * time.Millisecond
	lockCheck    = 2 * time.Second
)

// engineLock is the session that holds the lock.
type engineLock struct {
	url    string
	owner  string // application name of the session
	logger *slog.Logger
	conn   *pgx.Conn
}

func takeLock(ctx context.Context, databaseURL string, logger *slog.Logger) (*engineLock, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	// The random part distinguishes this lock from others of the same process, and of the same process number
	// in another container.
	owner := fmt.Sprintf("slipway engine %.8s %d@%.30s", uuid.NewString(), os.Getpid(), host)
	lock := &engineLock{url: databaseURL, owner: owner, logger: logger}
	patience := time.NewTimer(lockPatience)
	defer patience.Stop()
	retry := time.NewTicker(lockRetry)
	defer retry.Stop()
	for {
		err := lock.try(ctx)
		if err == nil || !errors.Is(err, ErrEngineHeld) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-patience.C:
			return nil, err
		case <-retry.C:
		}
	}
}

// try connects and asks for the lock once.
func (l *engineLock) try(ctx context.Context) error {
	config, err := pgx.ParseConfig(l.url)
	if err != nil {
		return fmt.Errorf("parse database URL: %w", err)
	}
	config.RuntimeParams["application_name"] = l.owner
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect to database: %w", err)
	}
	var got bool
	const lock = "select pg_try_advisory_lock($1, $2)"
	if err = conn.QueryRow(ctx, lock, lockClass, lockObject).Scan(&got); err == nil && !got {
		err = l.holder(ctx, conn)
	}
	if err != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		return err
	}
	l.conn = conn
	return nil
}

// holder describes the holder of the lock. A session of this same lock that the network lost and the database
// still keeps is ended.
func (l *engineLock) holder(ctx context.Context, conn *pgx.Conn) error {
	const query = `
		select a.pid, a.application_name, coalesce(host(a.client_addr), 'this machine')
		from pg_locks l
		join pg_stat_activity a on a.pid = l.pid
		where l.locktype = 'advisory'
		and l.database = (select oid from pg_database where datname = current_database())
		and l.classid = $1
		and l.objid = $2
		and l.granted
		order by a.backend_start
		limit 1`
	var pid int
	var name, address string
	err := conn.QueryRow(ctx, query, lockClass, lockObject).Scan(&pid, &name, &address)
	if err != nil {
		return ErrEngineHeld // it has just gone
	}
	if name == l.owner {
		_, _ = conn.Exec(ctx, "select pg_terminate_backend($1)", pid) // the next attempt shows whether it worked
	}
	return fmt.Errorf("%w: %s, connected from %s", ErrEngineHeld, name, address)
}

// hold keeps the lock until ctx ends, and takes it again when the session breaks, as it does when the database
// restarts. It returns early only when another process was faster.
func (l *engineLock) hold(ctx context.Context) error {
	check := time.NewTicker(lockCheck)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-check.C:
		}
		if l.alive(ctx) || ctx.Err() != nil {
			continue
		}
		l.logger.Warn("engine lock lost with its database connection")
		if err := l.retake(ctx); err != nil {
			return err
		}
		l.logger.Info("engine lock taken again")
	}
}

func (l *engineLock) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, lockCheck)
	defer cancel()
	return l.conn.Ping(ctx) == nil
}

func (l *engineLock) retake(ctx context.Context) error {
	_ = l.conn.Close(context.WithoutCancel(ctx))
	retry := time.NewTicker(lockRetry)
	defer retry.Stop()
	var held time.Duration
	for {
		err := l.try(ctx)
		if err == nil {
			return nil
		}
		// ErrEngineHeld may come from this process's own lost session; any other error means that the database
		// is not reachable.
		if errors.Is(err, ErrEngineHeld) {
			if held += lockRetry; held > lockPatience {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-retry.C:
		}
	}
}

// release releases the lock. hold must have returned.
func (l *engineLock) release(ctx context.Context) {
	if l.conn != nil {
		_ = l.conn.Close(ctx)
	}
}
