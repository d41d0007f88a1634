package model

import (
	"errors"
	"fmt"
)

// Kinds of errors that decide the status code of a reply; wrap them with what was requested and what was found.
var (
	// ErrNotFound: no such object (404).
	ErrNotFound = errors.New("not found")
	// ErrInvalid: the input breaks a rule (400).
	ErrInvalid = errors.New("invalid")
	// ErrGone: what was asked for existed, and is not known any more (410).
	ErrGone = errors.New("gone")
	// ErrUnprocessable: the input is well-formed but not acceptable (422).
	ErrUnprocessable = errors.New("unprocessable")
	// ErrConflict: the object's state does not allow it (409).
	ErrConflict = errors.New("conflict")
	// ErrTooLarge: more bytes than are kept (413).
	ErrTooLarge = errors.New("too large")
	// ErrTooMany: more than are taken at a time, try again later (429).
	ErrTooMany = errors.New("too many requests")
	// ErrUnavailable: try again later (503).
	ErrUnavailable = errors.New("unavailable")
	// ErrNotBuilt: this operation does not exist yet (501).
	ErrNotBuilt = errors.New("not built yet")
)

// reason is an error of one of the kinds above whose text is only its own sentence.
type reason struct {
	kind error
	text string
}

func (r *reason) Error() string { return r.text }
func (r *reason) Unwrap() error { return r.kind }

// Invalidf makes an ErrInvalid; say what is required and what was found.
func Invalidf(format string, args ...any) error {
	return &reason{ErrInvalid, fmt.Sprintf(format, args...)}
}

// Unprocessablef makes an ErrUnprocessable.
func Unprocessablef(format string, args ...any) error {
	return &reason{ErrUnprocessable, fmt.Sprintf(format, args...)}
}

// Conflictf makes an ErrConflict; name the state.
func Conflictf(format string, args ...any) error {
	return &reason{ErrConflict, fmt.Sprintf(format, args...)}
}

// Gonef makes an ErrGone; say what to do instead.
func Gonef(format string, args ...any) error {
	return &reason{ErrGone, fmt.Sprintf(format, args...)}
}

// TooLargef makes an ErrTooLarge; name the limit.
func TooLargef(format string, args ...any) error {
	return &reason{ErrTooLarge, fmt.Sprintf(format, args...)}
}

// NotFoundf makes an ErrNotFound.
func NotFoundf(format string, args ...any) error {
	return &reason{ErrNotFound, fmt.Sprintf(format, args...)}
}
