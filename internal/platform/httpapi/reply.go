package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// Errors of HTTP itself and of the authorization check.
var (
	ErrUnauthenticated = errors.New("unauthenticated")
	ErrForbidden       = errors.New("forbidden")
	ErrMalformed       = errors.New("malformed")
	ErrMediaType       = errors.New("unsupported media type")
	ErrMisdirected     = errors.New("misdirected request")
	ErrTooMany         = model.ErrTooMany
	ErrPanicked        = errors.New("request handler panicked")

	errMethod = errors.New("method not allowed")
)

// retryAfter is how many seconds a client is asked to wait when the service is busy.
const retryAfter = "5"

// statuses maps errors to status codes; the first kind that matches decides. Any other error is a fault of the
// service: 500.
var statuses = []struct {
	kind   error
	status int
}{
	{ErrMalformed, http.StatusBadRequest},
	{model.ErrInvalid, http.StatusBadRequest},
	{ErrUnauthenticated, http.StatusUnauthorized},
	{ErrForbidden, http.StatusForbidden},
	{model.ErrNotFound, http.StatusNotFound},
	{errMethod, http.StatusMethodNotAllowed},
	{os.ErrDeadlineExceeded, http.StatusRequestTimeout}, // of a body that does not arrive
	{ErrMisdirected, http.StatusMisdirectedRequest},
	{model.ErrTooLarge, http.StatusRequestEntityTooLarge},
	{ErrTooMany, http.StatusTooManyRequests},
	{model.ErrConflict, http.StatusConflict},
	{model.ErrGone, http.StatusGone},
	{ErrMediaType, http.StatusUnsupportedMediaType},
	{model.ErrUnprocessable, http.StatusUnprocessableEntity},
	{model.ErrUnavailable, http.StatusServiceUnavailable},
	{context.DeadlineExceeded, http.StatusServiceUnavailable},
	{context.Canceled, http.StatusServiceUnavailable}, // the service stops, or the client is gone and reads nothing
}

// reason is an error of a kind whose text is only its own sentence.
type reason struct {
	kind error
	text string
}

func (e *reason) Error() string { return e.text }
func (e *reason) Unwrap() error { return e.kind }

// Errorf returns an error of a kind whose text is only the formatted sentence.
func Errorf(kind error, format string, args ...any) error {
	return &reason{kind, fmt.Sprintf(format, args...)}
}

// NoMethod returns the error of an address that does not accept a method.
func NoMethod(method string) error {
	return Errorf(errMethod, "method %s is not offered here", method)
}

// Status returns the status code of an error.
func Status(err error) int {
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

// ServerFault reports whether a status code blames the service.
func ServerFault(status int) bool { return status >= http.StatusInternalServerError }

// Fail answers with an error and notes it in the request. An answer to a fault of the service holds no detail but the
// request id, which leads to the log.
func Fail(w http.ResponseWriter, r *http.Request, err error) {
	About(r).Err = err
	w.Header().Del("Etag") // of what cannot be read
	status := Status(err)
	text := err.Error()
	var size *http.MaxBytesError
	switch {
	case errors.As(err, &size):
		text = fmt.Sprintf("the body is longer than %d bytes", size.Limit)
	case status == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", retryAfter)
		text = "the service cannot take this now, try again; request id " + About(r).ID
	case status == http.StatusRequestTimeout:
		text = "the body stopped arriving"
	case status == http.StatusTooManyRequests:
		w.Header().Set("Retry-After", retryAfter)
	case ServerFault(status):
		text = "something broke inside the service; its log has more under request id " + About(r).ID
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		JSON(w, status, wire.InfraError{Code: int32(status), Message: text}) //nolint:gosec // three digits
		return
	}
	Refuse(w, status, text)
}

// Refuse answers with a status code and a sentence, in the form of the v2 API.
func Refuse(w http.ResponseWriter, status int, text string) {
	JSON(w, status, wire.Error{
		Kind: wire.ErrorKindError, ID: int32(status), Code: strconv.Itoa(status), Reason: text, //nolint:gosec // three digits
	})
}

// JSON answers with a body in JSON.
func JSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Errorf("encode %T: %w", body, err)) // types of package wire can always be encoded
	}
	Bytes(w, status, "application/json", append(text, '\n'))
}

// Bytes answers with a body of a content type.
func Bytes(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone is no error of ours
}
