package cli

import (
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"slipway/internal/client"
	"slipway/internal/model"
)

// Exit codes, as the documentation of the package lists them.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitUnreachable = 5
	exitTimeout     = 6
)

// Failure is an error with the exit code of the process; kong knows its method.
type Failure struct {
	Err  error
	Code int
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// ExitCode implements kong.ExitCoder.
func (f *Failure) ExitCode() int { return f.Code }

// ExitCode returns the exit code of the process for what a command returned.
func ExitCode(err error) int {
	var usage *kong.ParseError
	var coder interface{ ExitCode() int }
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &coder):
		return coder.ExitCode()
	}
	return exitFailed
}

// failed gives an error of the service its exit code and labels it; a service that does not answer is named.
func failed(service, doing string, err error) error {
	if err == nil {
		return nil
	}
	var already *Failure
	if errors.As(err, &already) {
		return err
	}
	var apiErr *client.Error
	if !errors.As(err, &apiErr) {
		return &Failure{fmt.Errorf("%s: the service at %s does not answer: %w", doing, service, err), exitUnreachable}
	}
	text := apiErr.Reason
	if text == "" {
		text = apiErr.Error()
	}
	code := exitFailed
	switch {
	case errors.Is(err, model.ErrNotFound):
		code = exitNotFound
	case errors.Is(err, model.ErrConflict):
		code = exitConflict
	case errors.Is(err, model.ErrUnavailable):
		code = exitUnreachable
	}
	return &Failure{fmt.Errorf("%s: %s", doing, text), code}
}
