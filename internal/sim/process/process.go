// Package process runs programs that end with this one at the latest.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// Process is a program that was started.
type Process struct {
	command *exec.Cmd
	ended   context.Context //nolint:containedctx // it ends with the program
}

// Start starts a command with its standard error, and its standard output unless the command has one, at the end of a log file. The program
// is a process group of its own, which signals from a terminal do not reach, and gets SIGTERM when this process dies.
func Start(command *exec.Cmd, log string) (*Process, error) {
	name := filepath.Base(command.Path)
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", name, err)
	}
	command.Stderr = file
	if command.Stdout == nil {
		command.Stdout = file
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	started := make(chan error)
	ended, end := context.WithCancelCause(context.Background())
	go func() {
		// The kernel signals the death of the thread that started a process, not of its process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer file.Close()
		err := command.Start()
		started <- err
		if err != nil {
			return
		}
		_, err = command.Process.Wait()
		end(errors.Join(fmt.Errorf("%s has ended; its log is %s", name, log), err))
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return &Process{command, ended}, nil
}

// Ended returns a context that is done when the program has ended. Its cause says so.
func (p *Process) Ended() context.Context { return p.ended }

// Stop ends the program in order, or by force when that takes longer than limit.
func (p *Process) Stop(limit time.Duration) {
	if p.ended.Err() != nil {
		return
	}
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended.Done():
	case <-time.After(limit):
		_ = p.command.Process.Kill()
		<-p.ended.Done()
	}
}
