package postgres_test

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/internal/testing/postgrestest"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/postgres"
	"slipway/internal/testing/await"
	"slipway/internal/testing/forkedchild"
)

func TestPostgresKeepsItsDataAcrossStarts(t *testing.T) {
	t.Parallel()
	dir := postgrestest.Folder(t)
	first := postgrestest.Start(t, dir, time.Now)
	postgrestest.Exec(t, first.URL(), "create table kept (n int)", "insert into kept values (42)")
	postgrestest.Stop(t, first)
	require.NoFileExists(t, filepath.Join(dir, "postgres", "postmaster.pid"))

	second := postgrestest.Start(t, dir, time.Now)
	require.Equal(t, first.URL(), second.URL())
	require.Equal(t, 42, postgrestest.Number(t, second.URL(), "select n from kept"))
}

func TestPostgresIsNotReachedByNetworkOrByOthers(t *testing.T) {
	t.Parallel()
	dir := postgrestest.Folder(t)
	lock := filepath.Join(dir, "slipway.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o644)) //nolint:gosec // as earlier versions left it
	database := postgrestest.Start(t, dir, time.Now)
	require.Zero(t, postgrestest.Number(t, database.URL(), "select length(current_setting('listen_addresses'))"))
	held, err := os.Stat(lock)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), held.Mode().Perm(), "others could hold the lock")
	for _, private := range []string{"run", "postgres"} {
		info, err := os.Stat(filepath.Join(dir, private))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), private)
	}
}

func TestPostgresDoesNotGetTheTerminalsSignals(t *testing.T) {
	t.Parallel()
	database := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	group, err := syscall.Getpgid(database.PID())
	require.NoError(t, err)
	require.NotEqual(t, syscall.Getpgrp(), group)
}

func TestPostgresStartsAgainBesideAForkedChildOfItsParent(t *testing.T) {
	t.Parallel()
	dir := postgrestest.Folder(t)
	first := postgrestest.Start(t, dir, time.Now)
	forkedchild.Holds(t, filepath.Join(dir, "slipway.lock"))
	postgrestest.Stop(t, first)
	postgrestest.Start(t, dir, time.Now)
}

func TestPostgresRefusesAFolderHeldByAnother(t *testing.T) {
	t.Parallel()
	dir := postgrestest.Folder(t)
	postgrestest.Start(t, dir, time.Now)
	_, err := postgres.Start(await.Context(t), postgrestest.Options(t, dir, time.Now))
	require.ErrorIs(t, err, postgres.ErrFolderHeld)
	require.ErrorContains(t, err, "pid "+strconv.Itoa(os.Getpid()))
}

func TestPostgresSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	t.Run("when no server is installed", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "data")
		options := postgrestest.Options(t, dir, time.Now)
		options.BinFolders = []string{t.TempDir()}
		_, err := postgres.Start(await.Context(t), options)
		require.ErrorIs(t, err, postgres.ErrNotInstalled)
		require.ErrorContains(t, err, "apt-get install postgresql")
		require.NotContains(t, err.Error(), "\n")
		require.NoDirExists(t, dir)
	})
	t.Run("when the data was made by a version that is not installed", func(t *testing.T) {
		t.Parallel()
		dir := postgrestest.Folder(t)
		postgrestest.Stop(t, postgrestest.Start(t, dir, time.Now))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "postgres", "PG_VERSION"), []byte("9\n"), 0o600))
		_, err := postgres.Start(await.Context(t), postgrestest.Options(t, dir, time.Now))
		require.ErrorContains(t, err, "needs PostgreSQL 9, found ")
		require.ErrorContains(t, err, "apt-get install postgresql-9")
	})
	t.Run("when the path is too long for a socket", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(postgrestest.Folder(t), strings.Repeat("long/", 20))
		_, err := postgres.Start(await.Context(t), postgrestest.Options(t, dir, time.Now))
		require.ErrorContains(t, err, "is too long: require at most 8")
	})
	t.Run("when the server's user cannot reach the folder", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() != 0 {
			t.Skip("SKIP: only root starts the server as another user")
		}
		closed := filepath.Join(postgrestest.Folder(t), "closed")
		require.NoError(t, os.Mkdir(closed, 0o700))
		dir := filepath.Join(closed, "data")
		_, err := postgres.Start(await.Context(t), postgrestest.Options(t, dir, time.Now))
		require.ErrorContains(t, err, "cannot pass through "+closed+" (mode 0700)")
	})
}

func TestPostgresStartsAgainAfterAFirstStartCutShort(t *testing.T) {
	t.Parallel()
	dir := postgrestest.Folder(t)
	rest := filepath.Join(dir, "postgres.new", "base")
	require.NoError(t, os.MkdirAll(rest, 0o700))
	postgrestest.Start(t, dir, time.Now)
	require.NoDirExists(t, rest)
}

func TestPostgresIsStartedAgainWhenKilled(t *testing.T) {
	t.Parallel()
	database := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	pool, err := pgxpool.New(await.Context(t), database.URL())
	require.NoError(t, err)
	defer pool.Close()
	ctx := await.Context(t)
	_, err = pool.Exec(ctx, "create table kept (n int)")
	require.NoError(t, err)
	for round := range 3 {
		_, err = pool.Exec(ctx, "insert into kept values ($1)", round)
		require.NoError(t, err)
		killed := database.PID()
		require.NoError(t, syscall.Kill(killed, syscall.SIGKILL))
		await.True(t, func() bool { return database.PID() != 0 && database.PID() != killed }, "a new server")
		await.True(t, func() bool { return pool.Ping(ctx) == nil }, "the pool to connect again")
	}
	var rows int
	require.NoError(t, pool.QueryRow(ctx, "select count(*) from kept").Scan(&rows))
	require.Equal(t, 3, rows)
}

func TestPostgresIsStartedAgainWhenBackendsOutliveIt(t *testing.T) {
	t.Parallel()
	database := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	busy, err := pgxpool.New(await.Context(t), database.URL())
	require.NoError(t, err)
	defer busy.Close()
	sleeping := make(chan error, 1)
	go func() {
		_, err := busy.Exec(await.Context(t), "select pg_sleep(300) /* outlives */")
		sleeping <- err
	}()
	const query = "select count(*) from pg_stat_activity where query like '%outlives */' and pid <> pg_backend_pid()"
	await.True(t, func() bool { return postgrestest.Number(t, database.URL(), query) == 1 }, "the busy backend")
	killed := database.PID()
	require.NoError(t, syscall.Kill(killed, syscall.SIGKILL))
	await.True(t, func() bool { return database.PID() != 0 && database.PID() != killed }, "a new server")
	require.Error(t, <-sleeping)
}

func TestPostgresSurvivesTheDeathOfItsParent(t *testing.T) {
	t.Parallel()
	dir := postgrestest.Folder(t)
	postgrestest.Start(t, postgrestest.Folder(t), time.Now) // skips where there is none
	for range 2 {
		holder := osexec.Command(os.Args[0])
		holder.Env = append(os.Environ(), holdEnv+"="+dir)
		out, err := holder.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, holder.Start())
		var pid int
		line := readLine(t, out)
		_, err = fmt.Sscanf(line, "ready %d", &pid)
		require.NoError(t, err, line)
		require.NoError(t, holder.Process.Kill())
		_ = holder.Wait()
	}
	database := postgrestest.Start(t, dir, time.Now)
	require.Equal(t, 1, postgrestest.Number(t, database.URL(), "select 1"))
}

func TestPostgresEndsAServerThatHasLostItsMaster(t *testing.T) {
	t.Parallel()
	dir := postgrestest.Folder(t)
	postgrestest.Stop(t, postgrestest.Start(t, dir, time.Now))
	orphan := startOrphan(t, dir)
	database := postgrestest.Start(t, dir, time.Now)
	require.NotEqual(t, orphan.Process.Pid, database.PID())
	require.NoError(t, orphan.Wait(), "a fast stop ends with code 0")
}

// startOrphan runs the server on its own, as if the kernel had not sent it the parent-death signal.
func startOrphan(t *testing.T, dir string) *osexec.Cmd {
	t.Helper()
	data := filepath.Join(dir, "postgres")
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	require.NoError(t, err)
	if len(found) == 0 {
		t.Skip("SKIP: the server programs are elsewhere on this machine")
	}
	cmd := osexec.CommandContext(context.WithoutCancel(t.Context()), found[len(found)-1], "-D", data, "-c", "listen_addresses=",
		"-c", "unix_socket_directories="+filepath.Join(dir, "run"))
	info, err := os.Stat(data)
	require.NoError(t, err)
	owner := info.Sys().(*syscall.Stat_t)
	cmd.Dir, cmd.SysProcAttr = data, &syscall.SysProcAttr{Setpgid: true}
	if int(owner.Uid) != os.Geteuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}
	}
	require.NoError(t, cmd.Start())
	socket := filepath.Join(dir, "run", ".s.PGSQL.5432")
	await.True(t, func() bool { _, err := os.Stat(socket); return err == nil }, "the orphan's socket")
	return cmd
}

func TestPostgresIgnoresLockFilesThatNameAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := postgrestest.Folder(t)
	postgrestest.Stop(t, postgrestest.Start(t, dir, time.Now))
	data := filepath.Join(dir, "postgres")
	other := osexec.Command("sleep", "300")
	info, err := os.Stat(data)
	require.NoError(t, err)
	owner := info.Sys().(*syscall.Stat_t)
	if int(owner.Uid) != os.Geteuid() {
		other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	require.NoError(t, other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	pidFile := fmt.Sprintf("%d\n%s\n1700000000\n5432\n%s\n\n", other.Process.Pid, data, filepath.Join(dir, "run"))
	require.NoError(t, os.WriteFile(filepath.Join(data, "postmaster.pid"), []byte(pidFile), 0o600))
	socketLock := filepath.Join(dir, "run", ".s.PGSQL.5432.lock")
	require.NoError(t, os.WriteFile(socketLock, []byte(pidFile), 0o600))

	postgrestest.Start(t, dir, time.Now)
	require.NoError(t, other.Process.Signal(syscall.Signal(0)), "the other process was left alone")
}
