// Package hostexec is the single interface to commands and files of a host, so that the same code works on a
// real machine, in a namespace with a fake hardware tree, and on a simulated machine.
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
	// Output, when set, receives stdout and stderr as they arrive.
	Output func(chunk []byte)
}

// String returns the command as a person would type it.
func (c Cmd) String() string { return strings.Join(append([]string{c.Name}, c.Args...), " ") }

// Result is the outcome of a finished command.
type Result struct {
	Stdout string
	Stderr string
}

// Runner runs commands. A command that ended with a code other than zero returns an *ExitError together with
// its Result; a command that could not be started returns another error. When ctx ends, the command and all its
// children are killed.
type Runner interface {
	Run(ctx context.Context, c Cmd) (Result, error)
}

// ExitError is the error of a command that ended with a code other than zero.
type ExitError struct {
	Cmd    string
	Code   int
	Stderr string // the last part of it; of stdout if it is empty
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("%s: exit status %d: %s", e.Cmd, e.Code, strings.TrimSpace(e.Stderr))
}

// Root is the root of the host's file system: "/" on the host itself.
type Root string

// Path returns the location of an absolute host path below the root.
func (r Root) Path(path string) string { return filepath.Join(string(r), path) }
