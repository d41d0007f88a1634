package hostexec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// HostNamespaces is an Exec.Enter for an agent in a container: it runs commands in the
// namespaces of the host's first process. Without --pid nsenter becomes the command
// itself, so that killing it kills the command.
var HostNamespaces = []string{"nsenter", "--target", "1", "--cgroup", "--mount", "--ipc", "--net", "--"}

// ErrNoCommand is returned when a command does not exist on the host.
var ErrNoCommand = errors.New("no such command")

// exitNotFound is the exit code of nsenter, env and shells when a command does not exist.
const exitNotFound = 127

// Missing reports whether err means that the command does not exist on the host.
func Missing(err error) bool {
	var exit *ExitError
	return errors.Is(err, ErrNoCommand) || errors.As(err, &exit) && exit.Code == exitNotFound
}

const (
	// keepStderr is how much of the output an ExitError carries, in bytes.
	keepStderr = 2 << 10
	// keepStreamed is how much of each stream a Result carries when Output received all of it.
	keepStreamed = 64 << 10
	// keepPlain limits each stream of a Result otherwise.
	keepPlain = 64 << 20
	// drain is how long the pipes of a command that has ended may stay open.
	drain = 2 * time.Second
	// dying is the time to wait for a killed command, longer than drain: a command that waits for a disk that
	// does not answer ends only after the disk's request has.
	dying = 10 * time.Second
)

// Exec runs commands on this machine. Each has a process group of its own, killed as a whole when its context
// ends, and is killed by the kernel when this process dies, even of SIGKILL. With Cmd.Output set, the Result
// holds only the last 64 KiB of each stream. A killed command that has not ended after ten seconds is
// abandoned.
type Exec struct {
	// Enter, when set, goes before each command: HostNamespaces.
	Enter []string
}

// outcome is the result of Run.
type outcome struct {
	result Result
	err    error
}

// Run implements Runner.
func (e Exec) Run(ctx context.Context, c Cmd) (Result, error) {
	out := &streams{output: c.Output}
	over := make(chan outcome, 1)
	go func() {
		// The death signal is sent when the thread that started the command ends, not the process: this
		// goroutine keeps its thread until the command is over. A thread that is not unlocked ends with its
		// goroutine: the runtime would keep it indefinitely.
		runtime.LockOSThread()
		result, err := e.run(ctx, c, out)
		over <- outcome{result, err}
	}()
	select {
	case o := <-over:
		return o.result, o.err
	case <-ctx.Done():
	}
	patience := time.NewTimer(dying)
	defer patience.Stop()
	select {
	case o := <-over:
		return o.result, o.err
	case <-patience.C:
		out.close()
		return Result{}, fmt.Errorf("run %s: killed, but still there: %w", c, context.Cause(ctx))
	}
}

func (e Exec) run(ctx context.Context, c Cmd, out *streams) (Result, error) {
	keep := keepPlain
	if c.Output != nil {
		keep = keepStreamed
	}
	stdout, stderr := &tail{limit: keep, all: out}, &tail{limit: keep, all: out}
	command := e.command(ctx, c)
	command.Stdout, command.Stderr = stdout, stderr

	err := command.Run()
	result := Result{Stdout: stdout.String(), Stderr: stderr.String()}
	return result, e.explain(ctx, c, result, err)
}

func (e Exec) command(ctx context.Context, c Cmd) *exec.Cmd {
	argv := append(append([]string{}, e.Enter...), append([]string{c.Name}, c.Args...)...)
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Env = append(command.Environ(), c.Env...)
	if c.Stdin != "" {
		command.Stdin = strings.NewReader(c.Stdin)
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = drain
	return command
}

// explain turns errors of os/exec into the errors of Runner.
func (e Exec) explain(ctx context.Context, c Cmd, result Result, err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil // also when a child it left behind holds its pipes
	case ctx.Err() != nil:
		return fmt.Errorf("run %s: %w", c, context.Cause(ctx))
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("run %s: %w", c.Name, ErrNoCommand)
	case errors.As(err, &exit):
		said := strings.TrimSpace(result.Stderr)
		switch {
		case said == "" && exit.ExitCode() < 0:
			said = exit.String() // signal: killed
		case said == "":
			said = strings.TrimSpace(result.Stdout) // chronyc reports errors there
		}
		return &ExitError{Cmd: c.String(), Code: exit.ExitCode(), Stderr: LastLines(said, keepStderr)}
	}
	return fmt.Errorf("run %s: %w", c, err)
}

// Sleep waits for d, or returns the cause when ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
