package imageservice

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"slipway/internal/images/download"
	"slipway/internal/images/liveisos"
	"slipway/internal/platform/httpapi"
)

// busyPause is when clients beyond the limit should try again: an image is sent within seconds.
const busyPause = 10 * time.Second

// fail answers with an error, in the form of the API; a refusal of the API is passed on unchanged.
func (s *service) fail(w http.ResponseWriter, r *http.Request, err error) {
	req := requestOf(r)
	req.status = s.refuse(w, r, err)
	req.Err = err
}

func (s *service) refuse(w http.ResponseWriter, r *http.Request, err error) int {
	var refused *refusal
	var notReady *liveisos.NotReady
	var ranges *download.RangeError
	switch {
	case errors.As(err, &refused):
		refused.write(w)
		return refused.status
	case errors.As(err, &notReady):
		return later(w, notReady.RetryAfter, notReady.Error())
	case errors.Is(err, download.ErrShare):
		const share = "one InfraEnv, or one address without a credential, has its share of the %d images that are sent at once: try again in %s"
		return later(w, busyPause, fmt.Sprintf(share, s.Bodies, busyPause))
	case errors.Is(err, download.ErrBusy):
		return later(
			w,
			busyPause,
			fmt.Sprintf("the limit of %d images that are sent at once is reached: try again in %s", s.Bodies, busyPause),
		)
	case errors.Is(err, download.ErrCondition):
		return failure(w, http.StatusPreconditionFailed, "the file has changed: it does not match If-Match or If-Unmodified-Since")
	case errors.As(err, &ranges):
		return failure(w, http.StatusRequestedRangeNotSatisfiable, ranges.Error())
	}
	httpapi.Fail(w, r, err)
	return httpapi.Status(err)
}

// later answers 503 with the time after which to try again.
func later(w http.ResponseWriter, pause time.Duration, text string) int {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(pause.Round(time.Second)/time.Second))))
	return failure(w, http.StatusServiceUnavailable, text)
}

func failure(w http.ResponseWriter, status int, text string) int {
	httpapi.Refuse(w, status, text)
	return status
}

// refusal is an error that the API answered with.
type refusal struct {
	status            int
	kind, pause, text string // its body as it came, Content-Type and Retry-After
}

func (e *refusal) Error() string {
	return fmt.Sprintf("the API answered %d: %.300s", e.status, e.text)
}

// write answers with the same status and body.
func (e *refusal) write(w http.ResponseWriter) {
	if e.pause != "" {
		w.Header().Set("Retry-After", e.pause)
	}
	httpapi.Bytes(w, e.status, e.kind, []byte(e.text))
}
