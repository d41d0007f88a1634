package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"slipway/internal/platform/sandbox"
)

// busyTries is how often a program is tried that is "busy" (ETXTBSY): another thread
// forked while it was written, and its child holds the file open until it executes.
const (
	busyTries = 20
	busyWait  = 25 * time.Millisecond
)

// process is a program to run.
type process struct {
	path   string
	args   []string
	env    []string
	dir    string
	output io.Writer // stdout and stderr
	user   *User     // nil: the user of this process
	// namespaces are flags of clone(2), used with a user where the machine allows it.
	namespaces uintptr
	// box is the sandbox it runs in; nil: none. Where the machine makes none and strict is false, it runs without.
	box    *sandbox.Box
	strict bool
}

// execute runs a program to its end. When ctx ends it kills the program and all its children; when this process
// dies, the kernel kills the program.
func execute(ctx context.Context, p process) error {
	for try := 1; ; try++ {
		err := executeOnce(ctx, p)
		var refused *sandbox.Refused
		if errors.As(err, &refused) && !p.strict {
			p.box = nil
			continue
		}
		var ran *exec.ExitError
		if err != nil && p.namespaces != 0 && !errors.As(err, &ran) && namespacesRefused(err) {
			p.namespaces = 0
			continue
		}
		if !errors.Is(err, syscall.ETXTBSY) || try == busyTries {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(busyWait):
		}
	}
}

func executeOnce(ctx context.Context, p process) error {
	// The kernel sends Pdeathsig when the thread that started the program ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Env, cmd.Dir = p.env, p.dir
	cmd.Stdout, cmd.Stderr = p.output, p.output
	cmd.SysProcAttr = p.attributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// A child that left the group could hold the output open.
	cmd.WaitDelay = 5 * time.Second
	run := cmd.Run
	if p.box != nil {
		run = func() error { return sandbox.Run(cmd, *p.box) }
	}
	err := run()
	if ctx.Err() != nil {
		return fmt.Errorf("killed: %w", context.Cause(ctx))
	}
	return err
}
