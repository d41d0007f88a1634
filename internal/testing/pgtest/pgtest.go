// Package pgtest gives tests a real PostgreSQL: one server for each test process, a
// database for each test. The server listens on a unix socket only and dies with the
// process.
package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience bounds waits for the server, so that a test does not hang.
const patience = 5 * time.Minute

var (
	start   = sync.OnceValues(startServer)
	counter atomic.Int64
)

// URL creates an empty database and returns its connection string. The test is
// skipped, and says so, where no PostgreSQL is installed.
func URL(t testing.TB) string {
	t.Helper()
	return create(t, server(t), "template1")
}

// migrated is the database that Migrated copies; empty until there is one.
var migrated struct {
	sync.Mutex
	name string
}

// Migrated creates a database with the schema that migrate makes, and returns its connection string. The schema is
// made once for each test process and copied, so migrate must be the same function in all calls.
func Migrated(t testing.TB, migrate func(ctx context.Context, url string) error) string {
	t.Helper()
	socket := server(t)
	return create(t, socket, template(t, socket, migrate))
}

func template(t testing.TB, socket string, migrate func(ctx context.Context, url string) error) string {
	t.Helper()
	const name = "migrated"
	migrated.Lock()
	defer migrated.Unlock()
	if migrated.name == "" {
		admin(t, socket, "create database "+name)
		if err := migrate(t.Context(), url(socket, name)); err != nil {
			t.Fatalf("migrate: %v", err)
		}
		migrated.name = name
	}
	return migrated.name
}

// server returns the folder of the socket of the process's server.
func server(t testing.TB) string {
	t.Helper()
	if binDir() == "" {
		t.Skip("SKIP: this test needs PostgreSQL (apt-get install postgresql)")
	}
	socket, err := start()
	if err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
	return socket
}

func create(t testing.TB, socket, template string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", counter.Add(1))
	admin(t, socket, "create database "+name+" template "+template)
	t.Cleanup(func() { admin(t, socket, "drop database "+name+" with (force)") })
	return url(socket, name)
}

func admin(t testing.TB, socket, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, url(socket, "postgres"))
	if err != nil {
		t.Fatalf("connect to PostgreSQL: %v", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func url(socket, database string) string {
	return fmt.Sprintf("host=%s port=5432 user=postgres dbname=%s sslmode=disable", socket, database)
}

func binDir() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.Sort(found)
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	return ""
}

func startServer() (string, error) {
	removeLeftovers()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("slipway-pgtest-%d", os.Getpid()))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	attr, err := unprivileged(dir)
	if err != nil {
		return "", err
	}
	data := filepath.Join(dir, "data")
	initdb := exec.Command(
		filepath.Join(binDir(), "initdb"),
		"-D",
		data,
		"-U",
		"postgres",
		"-A",
		"trust",
		"--no-sync",
		"-E",
		"UTF8",
		"--locale=C",
	)
	initdb.SysProcAttr, initdb.Dir = attr, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return "", fmt.Errorf("initdb: %w: %s", err, out)
	}
	if err := run(dir, data, attr); err != nil {
		return "", err
	}
	return dir, waitReady(dir)
}

// run starts postgres from a thread that lives as long as the process, because the
// death signal follows the thread.
func run(dir, data string, attr *syscall.SysProcAttr) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		cmd := exec.Command(filepath.Join(binDir(), "postgres"), "-D", data, "-k", dir,
			"-c", "listen_addresses=", "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off",
			"-c", "max_connections=200", "-c", "shared_buffers=64MB",
			"-c", "wal_level=minimal", "-c", "max_wal_senders=0", "-c", "autovacuum=off", "-c", "checkpoint_timeout=1h")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: attr.Credential, Pdeathsig: syscall.SIGQUIT, Setpgid: true}
		cmd.Dir = dir
		log, err := os.Create(filepath.Join(dir, "log"))
		if err == nil {
			cmd.Stdout, cmd.Stderr = log, log
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		select {}
	}()
	return <-started
}

func waitReady(socket string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var last error
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, url(socket, "postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		last = err
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("wait for PostgreSQL: %w", last)
}

// unprivileged makes dir belong to a user PostgreSQL agrees to run as.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return nil, fmt.Errorf("require a user postgres or nobody to run PostgreSQL, found neither")
}

// removeLeftovers deletes the folders of processes that have ended.
func removeLeftovers() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), "slipway-pgtest-*"))
	for _, dir := range dirs {
		pid, err := strconv.Atoi(dir[strings.LastIndexByte(dir, '-')+1:])
		if err == nil && syscall.Kill(pid, 0) == syscall.ESRCH {
			_ = os.RemoveAll(dir)
		}
	}
}
