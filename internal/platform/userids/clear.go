package userids

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long processes of an id may take to end, and look the time between two looks.
const (
	patience = 10 * time.Second
	look     = 10 * time.Millisecond
)

// kill ends all processes of a user that this one sees: those in the namespaces of a sandbox are among them.
func kill(id uint32) error {
	for tries := range int(patience / look) {
		running, err := processesOf(id)
		if err != nil || len(running) == 0 {
			return err
		}
		for _, pid := range running {
			if err := killOne(pid, id); err != nil {
				return err
			}
		}
		time.Sleep(min(time.Duration(tries)*time.Millisecond, look))
	}
	return fmt.Errorf("end the processes of user %d: they do not end", id)
}

// processesOf lists the processes of a user, without those that have ended and wait for their parent to notice.
func processesOf(id uint32) (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && runsAs(pid, id) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// runsAs reports whether a process runs as a user, by any of its ids (proc_pid_status(5)). The owner of the folder in /proc says it only of
// processes that may be dumped.
func runsAs(pid int, id uint32) bool {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return false // it has ended
	}
	of := false
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 1 && fields[0] == "State:" && (fields[1] == "Z" || fields[1] == "X"):
			return false
		case len(fields) > 1 && fields[0] == "Uid:":
			for _, f := range fields[1:] {
				of = of || f == strconv.Itoa(int(id))
			}
		}
	}
	return of
}

// killOne kills a process if it still is the user's: its number may have another owner by now.
func killOne(pid int, id uint32) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return ended(pid, err)
	}
	defer func() { _ = unix.Close(fd) }()
	if !runsAs(pid, id) {
		return nil
	}
	return ended(pid, unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0))
}

func ended(pid int, err error) error {
	if err == nil || errors.Is(err, unix.ESRCH) {
		return nil
	}
	return fmt.Errorf("kill process %d: %w", pid, err)
}

// removeOf removes what a user owns in a folder, whose own entries alone are looked at. Links are not followed.
func removeOf(id uint32, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return without(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			if err := without(err); err != nil {
				return err
			}
			continue
		}
		if owner, known := ownerOf(info); !known || owner != id {
			continue
		}
		if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
			return fmt.Errorf("remove files of user %d: %w", id, err)
		}
	}
	return nil
}

// without returns no error for files that do not exist.
func without(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("look for files of a user: %w", err)
}

func ownerOf(info fs.FileInfo) (uint32, bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return stat.Uid, true
}
