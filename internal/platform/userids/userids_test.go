package userids_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/userids"
	"slipway/internal/testing/await"
)

// TestMain lets the test binary be a service that is killed while it has a lease.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "lease" {
		ids, err := userids.Parse(os.Args[2])
		if err != nil {
			panic(err)
		}
		if err := holdLease(ids, os.Args[3]); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// holdLease leases an id, runs a program as it that outlives this process, and waits.
func holdLease(ids userids.Range, dir string) error {
	pool, err := userids.Open(ids, filepath.Join(dir, "leases"))
	if err != nil {
		return err
	}
	lease, err := pool.Lease(context.Background(), filepath.Join(dir, "work"))
	if err != nil {
		return err
	}
	folder := filepath.Join(dir, "work", "run")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	if err := os.Chown(folder, int(lease.ID), int(lease.ID)); err != nil {
		return err
	}
	program := as(lease.ID, `echo secret > "$1/key"; setsid sleep 1000 & echo $!; wait`, folder)
	program.Stdout = os.Stdout
	return program.Run()
}

// as returns a command of another user, in a shell.
func as(id uint32, script, argument string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", script, "sh", argument)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}, Setpgid: true}
	return cmd
}

// ids returns a range of this process and test alone: whatever runs as one of them is killed.
func ids(t *testing.T, place, number uint32) userids.Range {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIP: only root runs programs as another user")
	}
	first := 2_010_000_000 + uint32(os.Getpid()%4_000_000)*32 + place
	return userids.Range{First: first, Last: first + number - 1}
}

// pool opens a pool with its folder, and the folder of its runs.
func pool(t *testing.T, r userids.Range) (*userids.Pool, string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o711))
	require.NoError(t, os.Chmod(dir, 0o711))
	work := filepath.Join(dir, "work")
	require.NoError(t, os.Mkdir(work, 0o711))
	p, err := userids.Open(r, filepath.Join(dir, "leases"))
	require.NoError(t, err)
	return p, work
}

func TestTwoLeasesNeverHaveOneID(t *testing.T) {
	t.Parallel()
	p, work := pool(t, ids(t, 0, 2))
	first, err := p.Lease(t.Context(), work)
	require.NoError(t, err)
	second, err := p.Lease(t.Context(), work)
	require.NoError(t, err)
	require.NotEqual(t, first.ID, second.ID)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.Lease(ctx, work)
	require.ErrorIs(t, err, context.Canceled, "all are taken")
	first.Release()
	third, err := p.Lease(t.Context(), work)
	require.NoError(t, err)
	require.Equal(t, first.ID, third.ID)
	third.Release()
	second.Release()
}

// Attack: a program leaves a process and files for whoever has its id next.
func TestNothingOfARunIsLeftForTheNext(t *testing.T) {
	t.Parallel()
	p, work := pool(t, ids(t, 4, 1))
	lease, err := p.Lease(t.Context(), work)
	require.NoError(t, err)
	shared := fmt.Sprintf("/tmp/slipway-left-%d", lease.ID)
	program := as(lease.ID, `mkdir "$1"; echo secret > "$1/key"; setsid sleep 1000 & echo $!; exec >&-`, shared)
	out, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid := strings.TrimSpace(line)
	require.NoError(t, program.Wait())
	require.DirExists(t, shared)
	require.DirExists(t, "/proc/"+pid)
	lease.Release()
	require.NoDirExists(t, shared)
	gone(t, pid)
}

// gone reports that a process has ended, or waits for its parent to notice.
func gone(t *testing.T, pid string) {
	t.Helper()
	await.True(t, func() bool {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

// Attack: the service is killed, and what ran in its name waits for the next run.
func TestALeaseOfAKilledServiceIsFreeAndClean(t *testing.T) {
	t.Parallel()
	r := ids(t, 8, 1)
	p, work := pool(t, r)
	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.Command(self, "lease", r.String(), filepath.Dir(work))
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid := strings.TrimSpace(line)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.Lease(ctx, work)
	require.ErrorIs(t, err, context.Canceled, "it runs")
	require.FileExists(t, filepath.Join(work, "run", "key"))
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	require.DirExists(t, "/proc/"+pid, "it outlives its service")

	lease, err := p.Lease(t.Context(), work)
	require.NoError(t, err)
	require.Equal(t, r.First, lease.ID)
	gone(t, pid)
	require.NoDirExists(t, filepath.Join(work, "run"))
	lease.Release()
}

func TestIDsThatCannotBeLeasedAreRefused(t *testing.T) {
	t.Parallel()
	free := ids(t, 12, 1)
	_, err := userids.Open(userids.Range{First: 65530, Last: 65540}, t.TempDir())
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "require ids without an account, found ")
	open := t.TempDir()
	require.NoError(t, os.Chmod(open, 0o777))
	_, err = userids.Open(free, open)
	require.ErrorContains(t, err, "require a folder of this user alone at "+open)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = userids.Open(free, filepath.Join(file, "leases"))
	require.ErrorContains(t, err, "make the folder of leases")
}

func TestRangesAreRead(t *testing.T) {
	t.Parallel()
	r, err := userids.Parse("2002000000-2002000063")
	require.NoError(t, err)
	require.Equal(t, userids.Range{First: 2002000000, Last: 2002000063}, r)
	for _, bad := range []string{"", "5", "0-63", "2000-1999", "5000-10000", "2002000000-", "4294967200-4294967295", "ann-bob"} {
		_, err := userids.Parse(bad)
		require.ErrorIs(t, err, model.ErrInvalid, bad)
	}
}
