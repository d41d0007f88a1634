// Package httpapi holds what the HTTP handlers of the service share: one table that maps errors to status codes, JSON answers, request
// ids, and addresses as handlers expect them.
package httpapi

import (
	"errors"
	"net/http"
)

// Handler answers a request, or returns an error and writes nothing. It is the one place where errors of operations
// become answers.
type Handler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP implements http.Handler.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h(w, r)
	var incomplete *incompleteError
	switch {
	case errors.As(err, &incomplete):
		About(r).Err = incomplete.error
		panic(http.ErrAbortHandler)
	case err != nil:
		Fail(w, r, err)
	}
}

// incompleteError is the error of an answer that has begun.
type incompleteError struct{ error }

// Incomplete marks the error of an answer that has begun: the connection is closed, so that the client does not take
// a part of the body for the whole.
func Incomplete(err error) error { return &incompleteError{err} }
