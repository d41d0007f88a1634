package liveisos

import (
	"fmt"
	"os"
	"time"

	humanize "github.com/dustin/go-humanize"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
)

// Status is the state of one available image.
type Status struct {
	openshift.OSImage
	State State
	// Digest is the sha256 of the file, in hexadecimal digits; empty: unknown. OSImage.SHA256 is the required one.
	Digest string
	// Added is set for an image that was added, not listed in the settings.
	Added bool
	File  string // where it is, or will be
	// Done and Size are bytes; Size is zero while it is not known.
	Done, Size int64
	// Err is why the last try failed, and NextTry when the next one is; both are empty when the image is
	// usable.
	Err      error
	NextTry  time.Time
	Failures int // of downloads, since the start of the process
}

// Status returns the state of all available images, newest first, as they are on disk now: also when another
// process fetches them, or none.
func (s *Store) Status() []Status {
	var list []Status
	for _, e := range s.entries() {
		found, err := s.look(e)
		list = append(list, s.status(e, found, err))
	}
	return list
}

func (s *Store) status(e *entry, found *Image, err error) Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Status{
		OSImage: e.image, State: e.state, Added: e.added, File: e.path,
		Done: e.done, Size: e.size, Err: e.err, NextTry: e.next, Failures: e.failures,
	}
	switch {
	case found != nil:
		out.State, out.Done, out.Size, out.Err, out.NextTry = StateReady, found.Size, found.Size, nil, time.Time{}
		out.Digest = found.Digest
	case e.added:
		out.State, out.Err = StateFailed, err
	case e.state == StateReady: // until a moment ago
		out.State = StateWaiting
	case e.state == StateWaiting && !e.inPlace:
		out.partly(e.path)
	}
	return out
}

// partly fills in what another process has downloaded of an image, or an earlier one left.
func (t *Status) partly(path string) {
	part, err := readJSON[partRecord](path + partSuffix + recordSuffix)
	info, errFile := os.Stat(path + partSuffix)
	if err != nil || errFile != nil {
		return
	}
	t.Done, t.Size = info.Size(), part.Size
	if lockedElsewhere(path) {
		t.State = StateDownloading
	}
}

// NotReady is the error for an image that is listed but not on disk; it is a model.ErrUnavailable. Its text is
// fit for every caller; Err, which may name addresses, is for operators of the service.
type NotReady struct {
	Image      openshift.OSImage
	State      State
	Done, Size int64 // bytes; Size is zero while it is not known
	Err        error // of the last try
	RetryAfter time.Duration
}

// Error implements error.
func (n *NotReady) Error() string {
	what := "waits for its download"
	switch {
	case n.State == StateOnDemand:
		what = "is downloaded when the image of an InfraEnv is requested"
	case n.State == StateFailed:
		what = "is not usable yet"
	case n.State == StateDownloading && n.Size > 0:
		what = fmt.Sprintf("is being downloaded (%s of %s)", humanize.IBytes(uint64(n.Done)), humanize.IBytes(uint64(n.Size)))
	case n.State == StateDownloading:
		what = "is being downloaded"
	}
	return fmt.Sprintf("the operating system image of OpenShift %s %s: try again in %s", n.Image.Key(), what, n.RetryAfter)
}

// Unwrap gives the kind of the error, and its cause.
func (n *NotReady) Unwrap() []error {
	if n.Err == nil {
		return []error{model.ErrUnavailable}
	}
	return []error{model.ErrUnavailable, n.Err}
}

// missing makes the error for an entry that look did not find, and requests its download.
func (s *Store) missing(e *entry, err error, request func(*progress)) error {
	s.mu.Lock()
	e.lost()
	request(&e.progress)
	out := &NotReady{
		Image: e.image, State: e.state, Done: e.done, Size: e.size, Err: e.err, RetryAfter: e.retryAfter(s.o.Now()),
	}
	s.mu.Unlock()
	if e.added {
		out.State, out.Err = StateFailed, err
	}
	s.nudge()
	return out
}
