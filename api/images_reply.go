package api

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	sending "slipway/internal/images/download"
	"slipway/internal/images/osimages"
	"slipway/internal/wire"
)

// busyPause is when those come again who were one too many: images go out in seconds.
const busyPause = 10 * time.Second

// fail answers with an error, as the rest of the API does; what the API itself refused is
// handed on as it was said.
func (s *images) fail(w http.ResponseWriter, r *http.Request, err error) {
	ask := imageRequestOf(r)
	ask.status = s.refuse(w, r, err)
	ask.err = err
}

func (s *images) refuse(w http.ResponseWriter, r *http.Request, err error) int {
	var refused *apiRefusal
	var notReady *osimages.NotReady
	var ranges *sending.RangeError
	switch {
	case errors.As(err, &refused):
		refused.write(w)
		return refused.status
	case errors.As(err, &notReady):
		return later(w, notReady.RetryAfter, notReady.Error())
	case errors.Is(err, sending.ErrBusy):
		return later(w, busyPause, fmt.Sprintf("require at most %d images that are being sent, found as many: try again in %s", s.Bodies, busyPause))
	case errors.Is(err, sending.ErrCondition):
		return failure(w, http.StatusPreconditionFailed, "require the file that If-Match or If-Unmodified-Since is about, found another")
	case errors.As(err, &ranges):
		return failure(w, http.StatusRequestedRangeNotSatisfiable, ranges.Error())
	}
	fail(w, r, err)
	return statusOf(err)
}

// later answers that it is worth to come again, and why.
func later(w http.ResponseWriter, pause time.Duration, text string) int {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(pause.Round(time.Second)/time.Second))))
	return failure(w, http.StatusServiceUnavailable, text)
}

func failure(w http.ResponseWriter, status int, text string) int {
	writeJSON(w, status, wire.Error{
		Kind: wire.ErrorKindError, ID: int32(status), Code: strconv.Itoa(status), Reason: text, //nolint:gosec // three digits
	})
	return status
}

// apiRefusal is an answer of the API that is not the file it was asked for.
type apiRefusal struct {
	status            int
	kind, pause, text string // its body as it came, Content-Type and Retry-After
}

func (e *apiRefusal) Error() string {
	return fmt.Sprintf("the API answered %d: %.300s", e.status, e.text)
}

// write hands the answer on as it came.
func (e *apiRefusal) write(w http.ResponseWriter) {
	if e.pause != "" {
		w.Header().Set("Retry-After", e.pause)
	}
	write(w, e.status, e.kind, []byte(e.text))
}
