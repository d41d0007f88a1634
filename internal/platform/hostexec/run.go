// Package hostexec is the one door to commands and files of a host, so that the same code
// works on a real machine, in a namespace with a fake hardware tree, and on a
// simulated machine.
package hostexec

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// Cmd is a command to run on the host.
type Cmd struct {
	Name  string
	Args  []string
	Env   []string // added to the environment, KEY=value
	Stdin string
	// Output, when set, gets stdout and stderr as they come, in order of arrival.
	Output func(chunk []byte)
}

// String is the command as a person would type it.
func (c Cmd) String() string { return strings.Join(append([]string{c.Name}, c.Args...), " ") }

// Result is what a finished command left behind.
type Result struct {
	Stdout string
	Stderr string
}

// Runner runs commands. A command that ended with a code other than zero gives an
// *ExitError together with its Result; one that could not be started another error.
// When ctx ends the command and all its children are killed.
type Runner interface {
	Run(ctx context.Context, c Cmd) (Result, error)
}

// ExitError says that a command ended with a code other than zero.
type ExitError struct {
	Cmd    string
	Code   int
	Stderr string // the last part of it; of stdout where nothing was said there
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("%s: exit status %d: %s", e.Cmd, e.Code, strings.TrimSpace(e.Stderr))
}

// Root is where the host's file system begins: "/" on the host itself.
type Root string

// Path is the place of an absolute host path below the root.
func (r Root) Path(path string) string { return filepath.Join(string(r), path) }
