package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// Errors of HTTP itself, and those the door refuses with.
var (
	ErrUnauthenticated = errors.New("unauthenticated")
	ErrForbidden       = errors.New("forbidden")

	errPanicked  = errors.New("request handler panicked")
	errMedia     = errors.New("unsupported media type")
	errNoMethod  = errors.New("method not allowed")
	errMalformed = errors.New("malformed")
)

// retryAfter is how many seconds a client is asked to wait when the service is busy.
const retryAfter = "5"

// statuses are the status codes of errors; the first kind that fits decides. What fits
// none is a fault of the service.
var statuses = []struct {
	kind   error
	status int
}{
	{errMalformed, http.StatusBadRequest},
	{model.ErrInvalid, http.StatusBadRequest},
	{ErrUnauthenticated, http.StatusUnauthorized},
	{ErrForbidden, http.StatusForbidden},
	{model.ErrNotFound, http.StatusNotFound},
	{errNoMethod, http.StatusMethodNotAllowed},
	{model.ErrConflict, http.StatusConflict},
	{errMedia, http.StatusUnsupportedMediaType},
	{model.ErrUnprocessable, http.StatusUnprocessableEntity},
	{model.ErrUnavailable, http.StatusServiceUnavailable},
	{context.DeadlineExceeded, http.StatusServiceUnavailable},
	{context.Canceled, http.StatusServiceUnavailable}, // the service stops, or the client has gone and reads nothing
}

// reason is an error of a kind whose text is only its own sentence.
type reason struct {
	kind error
	text string
}

func (e *reason) Error() string { return e.text }
func (e *reason) Unwrap() error { return e.kind }

func reasonf(kind error, format string, args ...any) error {
	return &reason{kind, fmt.Sprintf(format, args...)}
}

func errMethod(method string) error {
	return reasonf(errNoMethod, "method %s is not offered here", method)
}

func statusOf(err error) int {
	var size *http.MaxBytesError
	if errors.As(err, &size) {
		return http.StatusRequestEntityTooLarge
	}
	for _, s := range statuses {
		if errors.Is(err, s.kind) {
			return s.status
		}
	}
	return http.StatusInternalServerError
}

// broken tells the statuses that are the service's fault.
func broken(status int) bool {
	return status >= http.StatusInternalServerError
}

// fail answers with an error. Of faults of the service it says nothing but where to
// find more.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	about(r).err = err
	status := statusOf(err)
	text := err.Error()
	var size *http.MaxBytesError
	switch {
	case errors.As(err, &size):
		text = fmt.Sprintf("require a body of at most %d bytes, found more", size.Limit)
	case status == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", retryAfter)
		text = "the service cannot take this now, try again; request id " + about(r).id
	case broken(status):
		text = "something broke inside the service; its log tells more under request id " + about(r).id
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		writeJSON(w, status, wire.InfraError{Code: int32(status), Message: text}) //nolint:gosec // three digits
		return
	}
	writeJSON(w, status, wire.Error{
		Kind: wire.ErrorKindError, ID: int32(status), Code: strconv.Itoa(status), Reason: text, //nolint:gosec // three digits
	})
}

// The replies of an operation that did, or did not do, what was asked; the codes are
// the contract's (docs/reference/wire.md, "Success codes"). A nil body is no body.

func ok(w http.ResponseWriter, r *http.Request, body any, err error) {
	answer(w, r, http.StatusOK, body, err)
}

func created(w http.ResponseWriter, r *http.Request, body any, err error) {
	answer(w, r, http.StatusCreated, body, err)
}

func accepted(w http.ResponseWriter, r *http.Request, body any, err error) {
	answer(w, r, http.StatusAccepted, body, err)
}

func noContent(w http.ResponseWriter, r *http.Request, err error) {
	answer(w, r, http.StatusNoContent, nil, err)
}

// okText answers with bytes of a content type.
func okText(w http.ResponseWriter, contentType string, body []byte) {
	write(w, http.StatusOK, contentType, body)
}

func answer(w http.ResponseWriter, r *http.Request, status int, body any, err error) {
	switch {
	case err != nil:
		fail(w, r, err)
	case body == nil:
		w.WriteHeader(status)
	default:
		writeJSON(w, status, body)
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Errorf("encode %T: %w", body, err)) // wire types hold nothing that cannot be encoded
	}
	write(w, status, "application/json", append(text, '\n'))
}

func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone is no error of ours
}
