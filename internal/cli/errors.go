package cli

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"

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

// unreachable says why a service gave no answer, and which flag helps.
func unreachable(service string, err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of the service at %s is of an unknown authority: name the authority with --ca-file, "+
			"or keep it with slipway login %s --fingerprint HEX, which the service prints at its first start: %w", service, service, err)
	case errors.As(err, &name):
		return fmt.Errorf("the certificate of the service at %s is for other names: use one of them in --url, "+
			"or give the service its name in --base-url: %w", service, err)
	}
	return fmt.Errorf("the service at %s does not answer: %w", service, err)
}

// plainHTTP reports whether a listener with TLS refused a request without it: net/http answers 400 with a line of text, the API with a
// reason.
func plainHTTP(service string, err *client.Error) bool {
	return strings.HasPrefix(service, "http://") && err.Status == http.StatusBadRequest && err.Reason == ""
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
		return &Failure{fmt.Errorf("%s: %w", doing, unreachable(service, err)), exitUnreachable}
	}
	if plainHTTP(service, apiErr) {
		return &Failure{fmt.Errorf("%s: the service at %s speaks HTTPS: require an address that begins with https://", doing, service), exitUsage}
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
