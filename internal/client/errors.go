package client

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"slipway/internal/model"
)

// ErrUnauthorized means that the service does not accept the credentials (401 or 403).
var ErrUnauthorized = errors.New("unauthorized")

// Error is a reply other than the operation's success. With errors.Is it matches model.ErrInvalid (400),
// model.ErrNotFound (404), model.ErrConflict (409), model.ErrGone (410), model.ErrUnprocessable (422), model.ErrNotBuilt (501),
// model.ErrUnavailable (other 5xx, 429) and ErrUnauthorized (401, 403).
type Error struct {
	// Op is the operation: "GET /v2/clusters/...", without the query.
	Op string
	// Status is the HTTP status code.
	Status int
	// Reason is the service's own message, cut to 1 KiB; empty when there was none.
	Reason string
	// RetryAfter is how long the service asks to wait before the next attempt.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("%s: %d %s", e.Op, e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%s: %d: %s", e.Op, e.Status, e.Reason)
}

// Is makes errors.Is work with the errors listed at Error.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrUnauthorized:
		return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
	case model.ErrUnavailable:
		return e.Status == http.StatusTooManyRequests ||
			e.Status >= http.StatusInternalServerError && e.Status != http.StatusNotImplemented
	}
	kind, known := kinds[e.Status]
	return known && target == kind
}

var kinds = map[int]error{
	http.StatusBadRequest:          model.ErrInvalid,
	http.StatusNotFound:            model.ErrNotFound,
	http.StatusConflict:            model.ErrConflict,
	http.StatusGone:                model.ErrGone,
	http.StatusUnprocessableEntity: model.ErrUnprocessable,
	http.StatusNotImplemented:      model.ErrNotBuilt,
}

// Passing reports whether the same call may succeed later without intervention: the service was not reached,
// was busy or failed.
func Passing(err error) bool {
	var apiErr *Error
	if !errors.As(err, &apiErr) {
		return err != nil
	}
	switch apiErr.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// RetryAfter returns how long the service asked to wait, zero when it did not.
func RetryAfter(err error) time.Duration {
	var apiErr *Error
	if errors.As(err, &apiErr) {
		return apiErr.RetryAfter
	}
	return 0
}
