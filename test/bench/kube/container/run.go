package container

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// notStarted is the exit code of a container whose program could not be begun.
const notStarted = 128

// Run runs what WriteSpec left in a folder, and leaves there how it ended. The process is
// the first of a PID namespace, and in a mount namespace of its own.
func Run(dir string, now func() time.Time) error {
	if pid := os.Getpid(); pid != 1 { // it ends all processes it can see
		return fmt.Errorf("require to be process 1 of a namespace, found %d", pid)
	}
	signals := make(chan os.Signal, 8)
	// First of all: the kernel sends the first process of a namespace no signal that it does not handle.
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, reopen)
	syscall.CloseOnExec(lockDescriptor)
	code, err := run(dir, signals, now)
	if err != nil {
		return WriteExit(dir, Exit{Code: notStarted, Finished: now(), Reason: "StartError", Message: err.Error()})
	}
	return WriteExit(dir, Exited(code, now()))
}

// reopen reports that the log file was moved away.
const reopen = syscall.SIGUSR1

// Reopen returns the signal that makes the process write to a new log file.
func Reopen() syscall.Signal { return reopen }

func run(dir string, signals <-chan os.Signal, now func() time.Time) (code int32, err error) {
	var spec Spec
	if err := ReadFile(filepath.Join(dir, specFile), &spec); err != nil {
		return 0, err
	}
	out, err := openLog(spec.Log, now)
	if err != nil {
		return 0, err
	}
	defer out.close()
	if err := mount(spec.Mounts); err != nil {
		return 0, err
	}
	pid, err := start(spec, out)
	if err != nil {
		return 0, err
	}
	go pass(signals, pid, out)
	code, err = wait(pid)
	// What the program left behind ends with it, and would hold the log open.
	if killed := syscall.Kill(-1, syscall.SIGKILL); killed != nil && !errors.Is(killed, syscall.ESRCH) {
		err = errors.Join(err, killed)
	}
	out.finish()
	return code, err
}

// pass gives signals to the program.
func pass(signals <-chan os.Signal, pid int, out *log) {
	for received := range signals {
		if received == reopen {
			out.reopen()
			continue
		}
		if number, ok := received.(syscall.Signal); ok {
			syscall.Kill(pid, number) //nolint:errcheck // it may have ended just now
		}
	}
}

// start begins the program.
func start(spec Spec, out *log) (pid int, err error) {
	if len(spec.Command) == 0 {
		return 0, errors.New("require a command, found none")
	}
	program, err := find(spec)
	if err != nil {
		return 0, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	stdout, err := out.pipe("stdout")
	if err != nil {
		return 0, err
	}
	defer stdout.Close()
	stderr, err := out.pipe("stderr")
	if err != nil {
		return 0, err
	}
	defer stderr.Close()
	attributes := &syscall.ProcAttr{
		Dir: spec.Dir, Env: spec.Env, Files: []uintptr{null.Fd(), stdout.Fd(), stderr.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true},
	}
	if spec.Dir == "" {
		attributes.Dir = "/"
	}
	if spec.User != nil {
		attributes.Sys.Credential = &syscall.Credential{Uid: spec.User.UID, Gid: spec.User.GID}
	}
	pid, err = syscall.ForkExec(program, spec.Command, attributes)
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", program, err)
	}
	return pid, nil
}

// find looks a program up in the container's own PATH.
func find(spec Spec) (string, error) {
	name := spec.Command[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, setting := range spec.Env {
		folders, ok := strings.CutPrefix(setting, "PATH=")
		if !ok {
			continue
		}
		for _, folder := range filepath.SplitList(folders) {
			if found, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
				return found, nil
			}
		}
	}
	return "", fmt.Errorf("find %s: %w", name, exec.ErrNotFound)
}

// wait reaps until the program has ended: the first process of a namespace gets all orphans.
func wait(pid int) (int32, error) {
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for process %d: %w", pid, err)
		case ended != pid:
		case status.Signaled():
			return 128 + int32(status.Signal()), nil //nolint:gosec // a signal's number is small
		default:
			return int32(status.ExitStatus()), nil //nolint:gosec // at most 255
		}
	}
}
