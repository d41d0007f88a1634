package api

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"slipway/internal/platform/httpapi"
)

// streamPatience is how long a slow reader may hold up a part of a streamed answer, and
// with it a database connection.
const streamPatience = time.Minute

// patient writes to a client with a new deadline for every part.
type patient struct {
	out     http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
	status  int  // sent before the first part; 0: 200
	begun   bool // a part was sent
}

func newPatient(w http.ResponseWriter, now func() time.Time) *patient {
	return &patient{out: w, control: http.NewResponseController(w), now: now}
}

// Write implements io.Writer.
func (p *patient) Write(text []byte) (int, error) {
	if !p.begun && p.status != 0 {
		p.out.WriteHeader(p.status)
	}
	p.begun = true
	p.allow(streamPatience) // what the client does not take within it is lost
	return p.out.Write(text)
}

// allow moves the deadline of the answer; connections without one ignore it.
func (p *patient) allow(more time.Duration) {
	_ = p.control.SetWriteDeadline(p.now().Add(more))
}

// done takes the deadline off: the connection serves the next request.
func (p *patient) done() { _ = p.control.SetWriteDeadline(time.Time{}) }

// stream answers with a JSON array whose items come one by one from list, which calls
// yield for each. An error after the first item breaks the connection off, so that the
// client does not take a part for the whole.
func stream[T any](s *server, w http.ResponseWriter, list func(yield func(T) error) error) error {
	client := newPatient(w, s.Now)
	defer client.done()
	out := bufio.NewWriterSize(client, 64<<10)
	separator := byte('[')
	err := list(func(item T) error {
		text, err := encoded(item)
		if err != nil {
			return err
		}
		if separator == '[' {
			w.Header().Set("Content-Type", "application/json")
		}
		_ = out.WriteByte(separator) // a bufio.Writer keeps its error for the next write
		separator = ','
		return text(out)
	})
	switch {
	case err != nil && separator == '[':
		return err
	case err != nil:
		return httpapi.Incomplete(err)
	case separator == '[':
		return okText(w, "application/json", []byte("[]\n"))
	}
	_, _ = out.WriteString("]\n")
	_ = out.Flush() // a client that is gone is no error of ours
	return nil
}

// written is JSON that is written part by part, because it is large.
type written func(out io.Writer) error

// encoded is how an item is written.
func encoded(item any) (written, error) {
	if large, ok := item.(written); ok {
		return large, nil
	}
	text, err := json.Marshal(item)
	return func(out io.Writer) error {
		_, err := out.Write(text)
		return err
	}, err
}
