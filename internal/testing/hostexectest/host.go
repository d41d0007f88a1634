// Package hostexectest has a Runner for tests whose commands do what the test says.
package hostexectest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"slipway/internal/platform/hostexec"
)

// Answer runs in place of a command: it may print, change files, wait for ctx, or fail.
type Answer func(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error)

// Host is a Runner. A command is answered by the longest entry that its line begins
// with, whole words only; one without an answer does not exist on this host.
type Host struct {
	mu      sync.Mutex
	answers map[string]Answer
	lines   []string
	cmds    []hostexec.Cmd
}

// New makes a host that knows the commands of answers.
func New(answers map[string]Answer) *Host {
	h := &Host{answers: map[string]Answer{}}
	for line, answer := range answers {
		h.answers[line] = answer
	}
	return h
}

// On sets what a command does from now on.
func (h *Host) On(line string, answer Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers[line] = answer
}

// OfInstallation lists the programs of an installation that print nothing when they succeed.
var OfInstallation = []string{"wipefs", "shutdown"}

// Succeeds has programs end with exit code 0 and no output.
func (h *Host) Succeeds(names ...string) {
	for _, name := range names {
		h.On(name, Prints(""))
	}
}

// Run implements hostexec.Runner.
func (h *Host) Run(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error) {
	h.mu.Lock()
	h.lines = append(h.lines, c.String())
	h.cmds = append(h.cmds, c)
	answer := h.find(c.String())
	h.mu.Unlock()
	if answer == nil {
		return hostexec.Result{}, fmt.Errorf("run %s: %w", c.Name, hostexec.ErrNoCommand)
	}
	result, err := answer(ctx, c)
	if c.Output != nil && result.Stdout != "" {
		c.Output([]byte(result.Stdout))
	}
	return result, err
}

func (h *Host) find(line string) Answer {
	var found Answer
	longest := -1
	for prefix, answer := range h.answers {
		if (line == prefix || strings.HasPrefix(line, prefix+" ")) && len(prefix) > longest {
			found, longest = answer, len(prefix)
		}
	}
	return found
}

// Lines lists the commands that ran, in order, as text.
func (h *Host) Lines() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.lines...)
}

// Commands lists the commands that ran, in order.
func (h *Host) Commands() []hostexec.Cmd {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]hostexec.Cmd{}, h.cmds...)
}

// Count returns how many of the commands began with line.
func (h *Host) Count(line string) int {
	count := 0
	for _, l := range h.Lines() {
		if strings.HasPrefix(l, line) {
			count++
		}
	}
	return count
}

// Prints answers with an output.
func Prints(stdout string) Answer {
	return func(context.Context, hostexec.Cmd) (hostexec.Result, error) {
		return hostexec.Result{Stdout: stdout}, nil
	}
}

// Fails answers with an exit code.
func Fails(code int, stderr string) Answer {
	return func(_ context.Context, c hostexec.Cmd) (hostexec.Result, error) {
		return hostexec.Result{Stderr: stderr}, &hostexec.ExitError{Cmd: c.String(), Code: code, Stderr: stderr}
	}
}

// Hangs answers when ctx ends.
func Hangs(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error) {
	<-ctx.Done()
	return hostexec.Result{}, fmt.Errorf("run %s: %w", c, context.Cause(ctx))
}
