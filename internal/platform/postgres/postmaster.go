package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// immediateGrace is the time a server gets that was stopped without a checkpoint.
const immediateGrace = 2 * time.Second

// postmaster is one run of the server process.
type postmaster struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process is gone
	exit error         // how it ended, nil for code 0; set before done is closed
}

// launch starts the server and waits until it answers. Leftovers of an earlier run are cleared first.
func (p *Server) launch(ctx context.Context) (*postmaster, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.options.StartTimeout,
		fmt.Errorf("no answer within %s", p.options.StartTimeout))
	defer cancel()
	if err := p.clearLeftovers(ctx); err != nil {
		return nil, err
	}
	cmd := exec.Command(p.binaries.path("postgres"), p.serverArgs(ctx)...) //nolint:noctx // ended in order by Stop, not by a context
	cmd.Dir, cmd.Env = p.folder.data, childEnv
	cmd.Stdout, cmd.Stderr = p.messages.writer, p.messages.writer
	cmd.SysProcAttr = p.account.attr()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGINT
	server, err := run(cmd)
	if err != nil {
		return nil, fmt.Errorf("start database: %w", err)
	}
	if err := p.waitReady(ctx, server); err != nil {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), immediateGrace)
		defer cancel()
		return nil, errors.Join(err, server.end(ending.Done()))
	}
	p.messages.forget()
	p.live.Store(server)
	return server, nil
}

// run starts the process from a thread that lives as long as the process does: the kernel treats the death of
// that thread as the death of the parent.
func run(cmd *exec.Cmd) (*postmaster, error) {
	server := &postmaster{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			server.exit = cmd.Wait()
		}
		close(server.done)
	}()
	return server, <-started
}

func (s *postmaster) pid() int { return s.cmd.Process.Pid }

// end stops the server: fast, which includes a checkpoint, until hurry is closed, and without one from then on.
func (s *postmaster) end(hurry <-chan struct{}) error {
	_ = s.cmd.Process.Signal(syscall.SIGINT) // an error means it has ended
	select {
	case <-s.done:
		return nil
	case <-hurry:
	}
	for _, sig := range []os.Signal{syscall.SIGQUIT, syscall.SIGKILL} {
		_ = s.cmd.Process.Signal(sig)
		grace := time.NewTimer(immediateGrace)
		defer grace.Stop()
		select {
		case <-s.done:
			return nil
		case <-grace.C:
		}
	}
	return fmt.Errorf("stop database: process %d does not end", s.pid())
}
