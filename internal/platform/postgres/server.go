package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// readyPoll is the interval at which a starting server is asked whether it answers yet.
const readyPoll = 20 * time.Millisecond

// Options configure the bundled database.
type Options struct {
	// DataDir is Slipway's data folder. The cluster lives in its subfolder postgres, the
	// socket in run.
	DataDir string
	// BinFolders are globs of folders with the PostgreSQL programs. Empty: the PATH and
	// the places distributions use.
	BinFolders []string
	// Account is the system user that the server runs as where root starts it, an existing one. Empty: DefaultAccount, which is
	// created where it does not exist.
	Account string
	// StartTimeout bounds a start, which includes crash recovery. Zero: two minutes.
	StartTimeout time.Duration
	Logger       *slog.Logger
	Now          func() time.Time
}

// Server is the bundled PostgreSQL server, a child of this process.
type Server struct {
	options  Options
	logger   *slog.Logger
	account  account
	folder   *folder
	binaries binaries
	messages *messages

	halt  context.CancelFunc // the server is expected to end from here on
	hurry context.CancelFunc // without a checkpoint
	live  atomic.Pointer[postmaster]
	done  chan struct{} // closed when the supervisor has ended
	err   error         // why it ended; set before done is closed
}

// Start starts the server in the data folder, which it creates at the first start,
// and returns once it answers. From then on a server that dies is started again.
//
// Errors: ErrFolderHeld when another process uses the data folder, ErrNotInstalled when nothing is
// installed, and one line about any other requirement that is missing.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.StartTimeout == 0 {
		o.StartTimeout = 2 * time.Minute
	}
	// Search before creating a user and folders: they are of no use without a server.
	if _, err := findBinaries(0, o.BinFolders); err != nil {
		return nil, err
	}
	owner, err := ensureAccount(ctx, o.Account, o.Logger)
	if err != nil {
		return nil, err
	}
	dir, err := openFolder(o.DataDir, owner)
	if err != nil {
		return nil, err
	}
	p := &Server{options: o, logger: o.Logger, account: owner, folder: dir, done: make(chan struct{})}
	if err := p.start(ctx); err != nil {
		dir.close()
		return nil, err
	}
	return p, nil
}

func (p *Server) start(ctx context.Context) error {
	major, err := p.folder.major()
	if err != nil {
		return err
	}
	if p.binaries, err = findBinaries(major, p.options.BinFolders); err != nil {
		return err
	}
	if major == 0 {
		p.logger.Info("creating database", "folder", p.folder.data, "version", p.binaries.major)
		if err := p.initCluster(ctx); err != nil {
			return err
		}
	}
	if err := p.handOver(ctx); err != nil {
		return err
	}
	if err := p.writeAccess(); err != nil {
		return err
	}
	if p.messages, err = newMessages(p.logger); err != nil { //nolint:contextcheck // lives as long as the server, not as its start
		return err
	}
	server, err := p.launch(ctx)
	if err != nil {
		p.messages.close()
		return err
	}
	if err := p.createDatabase(ctx); err != nil {
		_ = server.end(ctx.Done())
		p.messages.close()
		return err
	}
	var life, calm context.Context
	life, p.halt = context.WithCancel(context.WithoutCancel(ctx))
	calm, p.hurry = context.WithCancel(context.WithoutCancel(ctx))
	go p.supervise(life, calm, server)
	return nil
}

// URL returns the address of the database. It stays the same when the server is restarted.
func (p *Server) URL() string { return p.url(database) }

func (p *Server) url(database string) string { return socketURL(p.folder.socket, database) }

// URLOf returns the address of the database that a service runs in this data folder, for programs of the same user.
func URLOf(dataDir string) string { return socketURL(filepath.Join(dataDir, socketFolder), database) }

func socketURL(folder, database string) string {
	query := url.Values{"host": {folder}, "port": {"5432"}, "user": {role}, "sslmode": {"disable"}}
	return (&url.URL{Scheme: "postgres", Path: "/" + database, RawQuery: query.Encode()}).String()
}

// PID returns the process id of the running server, zero while none runs.
func (p *Server) PID() int {
	if server := p.live.Load(); server != nil {
		return server.pid()
	}
	return 0
}

// Done returns a channel that is closed when the server has ended permanently: after Stop, or because it could
// not be restarted, which Err then explains.
func (p *Server) Done() <-chan struct{} { return p.done }

// Err returns why the server ended by itself, or did not end on request. It is nil before Done.
func (p *Server) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Stop ends the server and releases the data folder. All clients are disconnected at once, open transactions
// are rolled back and a checkpoint is written. When ctx ends first the checkpoint is skipped, and the next
// start does crash recovery.
func (p *Server) Stop(ctx context.Context) error {
	p.halt()
	unhook := context.AfterFunc(ctx, p.hurry)
	<-p.done
	unhook()
	p.hurry()
	p.messages.close()
	p.folder.close()
	return p.err
}

// waitReady returns when the server answers, or has ended, or ctx has.
func (p *Server) waitReady(ctx context.Context, server *postmaster) error {
	slow := time.NewTimer(5 * time.Second)
	defer slow.Stop()
	poll := time.NewTicker(readyPoll)
	defer poll.Stop()
	for {
		conn, err := pgx.Connect(ctx, p.url("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		if !isStarting(err) {
			return fmt.Errorf("connect to database: %w", err)
		}
		select {
		case <-server.done:
			return fmt.Errorf("database ended while starting: %s", p.messages.reason())
		case <-ctx.Done():
			return fmt.Errorf("wait for database: %w", context.Cause(ctx))
		case <-slow.C:
			p.logger.Info("waiting for database", "folder", p.folder.data)
		case <-poll.C:
		}
	}
}

// isStarting distinguishes a server that does not answer yet from one that refuses the connection.
func isStarting(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code == "57P03" // cannot_connect_now
	}
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

func (p *Server) createDatabase(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, p.url("postgres"))
	if err != nil {
		return fmt.Errorf("connect to database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var exists bool
	const query = "select exists (select from pg_database where datname = $1)"
	if err := conn.QueryRow(ctx, query, database).Scan(&exists); err != nil {
		return fmt.Errorf("find database %s: %w", database, err)
	}
	if exists {
		return nil
	}
	if _, err := conn.Exec(ctx, "create database "+database); err != nil {
		return fmt.Errorf("create database %s: %w", database, err)
	}
	return nil
}
