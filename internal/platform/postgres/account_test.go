package postgres_test

import (
	"errors"
	"io/fs"
	"os"
	osexec "os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/postgres"
	"slipway/internal/testing/await"
	"slipway/internal/testing/postgrestest"
)

// sceneEnv is set in a process whose /etc is a copy: tests in it may create users.
const sceneEnv = "ENGINE_TEST_OWN_ETC"

// inOwnEtc runs the test again in a mount namespace of its own, after a script has changed the copy of /etc there. It reports whether the
// process is that one.
func inOwnEtc(t *testing.T, script string) bool {
	t.Helper()
	if os.Getenv(sceneEnv) == t.Name() {
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIP: only root starts the server as another user")
	}
	if _, err := osexec.LookPath("useradd"); err != nil {
		t.Skip("SKIP: this test needs useradd")
	}
	copied := postgrestest.Folder(t)
	const enter = `set -eu; cp -a /etc/. "$0"; mount --bind "$0" /etc; sed -i /^slipway-postgres:/d /etc/passwd /etc/group; `
	cmd := osexec.CommandContext(t.Context(), "unshare", "--mount", "--propagation", "private", "sh", "-c",
		enter+script+`; exec "$@"`, copied, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), sceneEnv+"="+t.Name())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name(), "%s", out)
	return false
}

func options(t *testing.T, dir, account string) postgres.Options {
	t.Helper()
	o := postgrestest.Options(t, dir, time.Now)
	o.Account = account
	return o
}

// begin starts a server as an account.
func begin(t *testing.T, dir, account string) *postgres.Server {
	t.Helper()
	database, err := postgres.Start(await.Context(t), options(t, dir, account))
	if errors.Is(err, postgres.ErrNotInstalled) {
		t.Skip("SKIP: " + err.Error())
	}
	require.NoError(t, err)
	return database
}

func uidOf(t *testing.T, name string) uint32 {
	t.Helper()
	u, err := user.Lookup(name)
	require.NoError(t, err)
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	require.NoError(t, err)
	return uint32(uid)
}

// owners returns the uids that own files under a path, with an example of each.
func owners(t *testing.T, path string) map[uint32]string {
	t.Helper()
	found := map[uint32]string{}
	require.NoError(t, filepath.WalkDir(path, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(name)
		if err == nil {
			found[info.Sys().(*syscall.Stat_t).Uid] = name
		}
		return err
	}))
	return found
}

// as runs a command as another user, as a program of that user would.
func as(t *testing.T, name string, command ...string) (string, error) {
	t.Helper()
	u, err := user.Lookup(name)
	require.NoError(t, err)
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	require.NoError(t, err)
	cmd := osexec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = "/", []string{"LC_ALL=C", "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uidOf(t, name), Gid: uint32(gid)}}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestPostgresHasAUserOfItsOwnUnderRoot(t *testing.T) {
	t.Parallel()
	if !inOwnEtc(t, "true") {
		return
	}
	_, err := user.Lookup(postgres.DefaultAccount)
	require.Error(t, err)
	dir := postgrestest.Folder(t)
	database := begin(t, dir, "")
	defer postgrestest.Stop(t, database)
	own := uidOf(t, postgres.DefaultAccount)
	require.NotZero(t, own)
	require.NotEqual(t, own, uidOf(t, postgrestest.Account()))
	for _, folder := range []string{"postgres", "run"} {
		found := owners(t, filepath.Join(dir, folder))
		require.Len(t, found, 1, "%v", found)
		require.Contains(t, found, own)
	}
	info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(database.PID())))
	require.NoError(t, err)
	require.Equal(t, own, info.Sys().(*syscall.Stat_t).Uid, "the process of the server")
	shadow, err := os.ReadFile("/etc/shadow")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^slipway-postgres:[!*]`, string(shadow), "a password would open the account")
}

// The attacker is the user of Debian's packages, that the servers of other programs run as.
func TestPostgresIsClosedToOtherUsersOfPostgreSQL(t *testing.T) {
	t.Parallel()
	if !inOwnEtc(t, "true") {
		return
	}
	dir := postgrestest.Folder(t)
	database := begin(t, dir, "")
	defer postgrestest.Stop(t, database)
	attacker := postgrestest.Account()
	for _, command := range [][]string{
		{"cat", filepath.Join(dir, "postgres", "PG_VERSION")},
		{"ls", filepath.Join(dir, "postgres")},
		{"ls", filepath.Join(dir, "run")},
		{"touch", filepath.Join(dir, "run", "new")},
		{"kill", "-0", strconv.Itoa(database.PID())},
		{"cat", filepath.Join("/proc", strconv.Itoa(database.PID()), "environ")},
	} {
		said, err := as(t, attacker, command...)
		require.Error(t, err, "%q: %s", command, said)
	}
	psql, err := osexec.LookPath("psql")
	if err != nil {
		t.Skip("SKIP: this test needs psql")
	}
	connect := []string{psql, "-h", filepath.Join(dir, "run"), "-U", "slipway", "-c", "select 'in'", "slipway"}
	said, err := as(t, attacker, connect...)
	require.Error(t, err, said)
	require.Contains(t, said, "Permission denied")

	// Also where somebody has opened the folder of the socket.
	require.NoError(t, os.Chmod(filepath.Join(dir, "run"), 0o755))                  //nolint:gosec // the mistake
	require.NoError(t, os.Chmod(filepath.Join(dir, "run", ".s.PGSQL.5432"), 0o777)) //nolint:gosec // the mistake
	for _, name := range []string{attacker, postgres.DefaultAccount} {
		said, err = as(t, name, connect...)
		require.Error(t, err, "%s: %s", name, said)
		require.Contains(t, said, "Peer authentication failed", name)
	}
	said, err = as(t, "root", connect...)
	require.NoError(t, err, said)
	require.Contains(t, said, "in")
}

func TestPostgresSaysWhichUserIsMissing(t *testing.T) {
	t.Parallel()
	if !inOwnEtc(t, `mount -o remount,bind,ro /etc`) {
		return
	}
	dir := postgrestest.Folder(t)
	_, err := postgres.Start(await.Context(t), options(t, dir, ""))
	if errors.Is(err, postgres.ErrNotInstalled) {
		t.Skip("SKIP: " + err.Error())
	}
	require.ErrorContains(t, err, "user slipway-postgres, which PostgreSQL runs as: account does not exist, and cannot be created: useradd: ")
	require.ErrorContains(t, err, "name an existing user with --postgres-user")
	require.NotContains(t, err.Error(), "\n")
	require.Empty(t, content(t, dir))

	_, err = postgres.Start(await.Context(t), options(t, dir, "slipway-typo"))
	require.ErrorContains(t, err, "user slipway-typo, which PostgreSQL runs as: account does not exist: create it")
	_, err = postgres.Start(await.Context(t), options(t, dir, "root"))
	require.ErrorContains(t, err, "require a user other than root for PostgreSQL (--postgres-user), found root with uid 0")
	require.Empty(t, content(t, dir))

	said, err := postgres.Installed(dir, "")
	require.NoError(t, err)
	require.Contains(t, said, "as user slipway-postgres, which the first start creates")
	_, err = postgres.Installed(dir, "slipway-typo")
	require.ErrorContains(t, err, "account does not exist")
}

func content(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
