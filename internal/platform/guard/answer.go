package guard

import (
	"io"
	"net/http"
	"time"
)

const (
	// answerPatience is how long a client may take nothing of an answer that has begun.
	answerPatience = 30 * time.Second
	// slowestReader is the rate that a client has to take an answer with beyond it, in bytes a second.
	slowestReader = 16 << 10
	// ownPause is how long a handler writes nothing before the time of its next part is counted anew: it had nothing to send.
	ownPause = 5 * time.Second
	// sentAtOnce is how much is sent with one deadline: the slowest reader takes it within answerPatience.
	sentAtOnce = 256 << 10
)

// SteadyAnswers closes connections of clients that stop to read an answer of next: each holds what its handler has open.
func SteadyAnswers(now func() time.Time, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w, control: http.NewResponseController(w), now: now}
		a.rest() // "100 Continue" is written when the body is read
		defer a.rest()
		next.ServeHTTP(a, r)
	})
}

// Direct hands next the writer below SteadyAnswers, for handlers that set a deadline for each part they send: sendfile needs the
// server's own.
func Direct(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a, steady := w.(*answer); steady {
			w = a.ResponseWriter
		}
		next.ServeHTTP(w, r)
	})
}

// answer moves the deadline of a connection by what its client has taken.
type answer struct {
	http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
	begun   time.Time
	taken   time.Time // when the last part was
	sent    int64
}

// Unwrap serves http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Write implements io.Writer.
func (a *answer) Write(p []byte) (int, error) {
	written := 0
	for {
		a.extend()
		n, err := a.ResponseWriter.Write(p[written:min(len(p), written+sentAtOnce)])
		written += n
		a.sent += int64(n)
		a.taken = a.now()
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// ReadFrom implements io.ReaderFrom: files are sent by the kernel where the connection can.
func (a *answer) ReadFrom(from io.Reader) (sent int64, err error) {
	limited, ok := from.(*io.LimitedReader)
	if !ok {
		return io.Copy(struct{ io.Writer }{a}, from)
	}
	for limited.N > 0 && err == nil {
		a.extend()
		part := &io.LimitedReader{R: limited.R, N: min(limited.N, sentAtOnce)}
		most := part.N
		var n int64
		if to, direct := a.ResponseWriter.(io.ReaderFrom); direct {
			n, err = to.ReadFrom(part)
		} else {
			n, err = io.Copy(struct{ io.Writer }{a.ResponseWriter}, part)
		}
		sent += n
		a.sent += n
		limited.N -= n
		if n < most {
			return sent, err
		}
	}
	return sent, err
}

func (a *answer) extend() {
	if now := a.now(); a.begun.IsZero() || now.Sub(a.taken) > ownPause {
		a.begun, a.sent = now, 0
	}
	_ = a.control.SetWriteDeadline(a.begun.Add(answerPatience + time.Duration(a.sent/slowestReader)*time.Second)) // tests have none
}

// FlushError serves http.ResponseController.
func (a *answer) FlushError() error {
	a.extend()
	err := a.control.Flush()
	a.taken = a.now()
	return err //nolint:wrapcheck // the connection's own
}

// Flush implements http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() }

// rest sets the deadline of what the server writes by itself: the end of an answer that fits into its buffer is sent when the handler
// has returned. The next answer begins with a deadline of its own.
func (a *answer) rest() {
	_ = a.control.SetWriteDeadline(a.now().Add(answerPatience)) // tests have none
}
