package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"slipway/internal/platform/coding"
	"slipway/internal/platform/fair"
	"slipway/internal/platform/spool"
)

const (
	// answerPatience is how long a client may take nothing of an answer that has begun.
	answerPatience = 30 * time.Second
	// slowestReader is the rate that a client has to take an answer with beyond it, in bytes a second.
	slowestReader = 16 << 10
	// inMemory is how much of a long answer is kept in memory before it is sent; more of it is in a file.
	inMemory = 256 << 10
	// part is how much of an answer is sent with one deadline.
	part = 64 << 10
)

// patient writes to a client with a deadline that moves by what the client has taken.
type patient struct {
	out     http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
	status  int  // sent before the first part; 0: 200
	begun   bool // a part was sent
	since   time.Time
	sent    int64
}

func newPatient(w http.ResponseWriter, now func() time.Time) *patient {
	return &patient{out: w, control: http.NewResponseController(w), now: now}
}

// Write implements io.Writer.
func (p *patient) Write(text []byte) (int, error) {
	if !p.begun {
		p.since = p.now()
		if p.status != 0 {
			p.out.WriteHeader(p.status)
		}
	}
	p.begun = true
	_ = p.control.SetWriteDeadline(p.since.Add(answerPatience + time.Duration(p.sent/slowestReader)*time.Second))
	n, err := p.out.Write(text)
	p.sent += int64(n)
	return n, err
}

// allow moves the deadline of the answer; connections without one ignore it.
func (p *patient) allow(more time.Duration) {
	_ = p.control.SetWriteDeadline(p.now().Add(more))
}

// done takes the deadline off: the connection serves the next request.
func (p *patient) done() { _ = p.control.SetWriteDeadline(time.Time{}) }

// hold moves the deadline of an answer that is held for a client that waits; the returned function takes it off.
func (s *server) hold(w http.ResponseWriter, wait time.Duration) (done func()) {
	client := newPatient(w, s.Now)
	client.allow(wait + answerPatience)
	return client.done
}

// applied reports to a client that its request is held (RFC 7240, section 3).
func applied(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait/time.Second)))
}

// respond answers with the JSON that write produces, compressed when the client asks for it. Nothing is sent before all of it is there: a
// client that reads slowly holds no connection of the database, and an error has its own status.
func (s *server) respond(status int, w http.ResponseWriter, r *http.Request, write written) error {
	whole := spool.New(inMemory)
	defer func() { _ = whole.Close() }()
	coded := coding.NewWriter(whole, coding.Of(r))
	if err := s.produce(r.Context(), coded, write); err != nil {
		return err
	}
	if c := coded.Coding(); c != coding.Identity {
		w.Header().Set("Content-Encoding", string(c))
	}
	w.Header().Add("Vary", "Accept-Encoding")
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.FormatInt(whole.Len(), 10))
	client := newPatient(w, s.Now)
	client.status = status
	defer client.done()
	defer fair.Large(r.Context())()
	// Part by part; a client that is gone is no error of the service.
	_, _ = io.CopyBuffer(struct{ io.Writer }{client}, struct{ io.Reader }{whole.Reader()}, make([]byte, part))
	return nil
}

// produce writes an answer, when it is its turn: however many lists are asked for, hosts find a processor free.
func (s *server) produce(ctx context.Context, coded io.WriteCloser, write written) error {
	leave, err := s.making.Take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	out := bufio.NewWriterSize(fair.Writer(coded), part)
	return errors.Join(write(out), out.Flush(), coded.Close())
}

// stream answers with a JSON array whose items come one by one from list, which calls
// yield for each.
func stream[T any](s *server, w http.ResponseWriter, r *http.Request, list func(yield func(T) error) error) error {
	return s.respond(http.StatusOK, w, r, func(out io.Writer) error { return array(out, list) })
}

// array writes a JSON array whose items come one by one from list. Items that are JSON already are not encoded again.
func array[T any](out io.Writer, list func(yield func(T) error) error) error {
	separator := "["
	err := list(func(item T) error {
		text, rendered := any(item).(json.RawMessage)
		var err error
		if !rendered {
			text, err = json.Marshal(item)
		}
		if err == nil {
			_, err = io.WriteString(out, separator)
		}
		if err != nil {
			return err
		}
		separator = ","
		_, err = out.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	end := "]\n"
	if separator == "[" {
		end = "[]\n"
	}
	_, err = io.WriteString(out, end)
	return err
}

// written is JSON that is written part by part, because it is large.
type written func(out io.Writer) error
