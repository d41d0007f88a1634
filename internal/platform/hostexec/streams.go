package hostexec

import (
	"strings"
	"sync"
)

// streams passes the chunks of stdout and stderr to one function, one at a time.
type streams struct {
	mu     sync.Mutex
	output func(chunk []byte)
}

func (s *streams) pass(chunk []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.output != nil {
		s.output(chunk)
	}
}

// close drops all further output.
func (s *streams) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.output = nil
}

// tail keeps the last limit bytes written to it.
type tail struct {
	limit int
	kept  []byte
	all   *streams
}

func (t *tail) Write(chunk []byte) (int, error) {
	t.all.pass(chunk)
	t.kept = append(t.kept, chunk...)
	if len(t.kept) > 2*t.limit { // cutting at twice the limit keeps the copying cheap
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-t.limit:]...)
	}
	return len(chunk), nil
}

func (t *tail) String() string { return last(string(t.kept), t.limit) }

// last returns the end of s, limit bytes at most.
func last(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return s[len(s)-limit:]
}

// LastLines returns the end of s, limit bytes at most, starting at the beginning of a line: half a secret would
// not be recognised as one. For a longer line it returns the line's end.
func LastLines(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	// Include the byte before: the cut may be at the beginning of a line.
	_, whole, found := strings.Cut(s[len(s)-limit-1:], "\n")
	if !found {
		return last(s, limit)
	}
	return whole
}
