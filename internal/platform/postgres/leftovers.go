package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// leftoverGraces are the times processes of an earlier run get after each signal. The first is for processes
// that are already ending: the server has received the parent-death signal, and idle backends of a killed
// server end by themselves.
var leftoverGraces = []struct {
	signal syscall.Signal
	grace  time.Duration
}{
	{0, 2 * time.Second},
	{syscall.SIGINT, 15 * time.Second},
	{syscall.SIGQUIT, 3 * time.Second},
	{syscall.SIGKILL, 3 * time.Second},
}

// clearLeftovers makes sure that no process of an earlier run works on the cluster, and
// removes the lock files such a run left behind. The caller holds the lock of the data
// folder, so whatever still works on it has lost its master.
//
// PostgreSQL guards itself by those files too, but takes any live process with the number
// in them for a server, which after a reboot or in a container is often a wrong guess.
func (p *Server) clearLeftovers(ctx context.Context) error {
	for _, step := range leftoverGraces {
		pids, err := processesIn(p.folder.data)
		if err != nil {
			return err
		}
		if step.signal != 0 && len(pids) > 0 {
			p.logger.Warn("ending database processes of an earlier run", "pids", pids, "signal", step.signal.String())
			for _, pid := range pids {
				_ = syscall.Kill(pid, step.signal) // it may have ended meanwhile
			}
		}
		if exited, err := p.waitGone(ctx, step.grace); err != nil || exited {
			if err != nil {
				return err
			}
			return p.removeLockFiles()
		}
	}
	return fmt.Errorf("database processes of an earlier run still work in %s and do not end", p.folder.data)
}

func (p *Server) waitGone(ctx context.Context, grace time.Duration) (bool, error) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	poll := time.NewTicker(readyPoll)
	defer poll.Stop()
	for {
		pids, err := processesIn(p.folder.data)
		if err != nil || len(pids) == 0 {
			return err == nil, err
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("wait for database processes of an earlier run: %w", context.Cause(ctx))
		case <-timer.C:
			return false, nil
		case <-poll.C:
		}
	}
}

// removeLockFiles removes the two files, one beside the data and one beside the socket,
// that name the process id of a server.
func (p *Server) removeLockFiles() error {
	for _, path := range []string{
		filepath.Join(p.folder.data, "postmaster.pid"),
		filepath.Join(p.folder.socket, socketName+".lock"),
	} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove stale lock file: %w", err)
		}
	}
	return nil
}

// processesIn lists the PostgreSQL processes of a cluster: all of them, and no other process called postgres,
// have the cluster as their working folder.
func processesIn(data string) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		proc := filepath.Join("/proc", entry.Name())
		// The links of other users' processes and of zombies cannot be read; those processes do not belong to
		// the cluster.
		dir, err := os.Readlink(filepath.Join(proc, "cwd"))
		if err != nil || dir != data {
			continue
		}
		if program, err := os.Readlink(filepath.Join(proc, "exe")); err == nil && isPostgres(program) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// isPostgres also recognises a program that a package upgrade replaced while it ran.
func isPostgres(program string) bool {
	name := filepath.Base(program)
	return name == "postgres" || name == "postgres (deleted)"
}
