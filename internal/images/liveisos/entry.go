package liveisos

import (
	"io/fs"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"slipway/internal/cluster/openshift"
)

// State is the state of an image.
type State string

// States of images.
const (
	StateOnDemand    State = "on demand"   // is downloaded when it is requested
	StateWaiting     State = "waiting"     // waits for its turn, or another process downloads it
	StateDownloading State = "downloading" // or being checked, when it is used in place
	StateReady       State = "ready"
	StateFailed      State = "failed" // and tried again later
)

// entry is an available image, wherever its file is.
type entry struct {
	image   openshift.OSImage
	path    string // of the file, which may not exist yet
	inPlace bool   // not in the folder
	added   bool
	record  record // of an added one

	reading  sync.Mutex  // held while the ISO is read, so that concurrent callers read it once
	kept     *Image      // what was read last
	verified fs.FileInfo // file used in place, or changed since its download, whose digest was right
	wrong    *refusal    // file used in place whose digest was not

	progress // guarded by the store's mutex
}

// progress is the result of the tries to get a listed image.
type progress struct {
	state      State
	running    bool
	done, size int64 // bytes; size is zero while it is not known
	began      time.Time
	beganAt    int64 // bytes that were there when this try began
	logged     int64 // tenths reported in the log
	err        error // of the last try
	failures   int   // since the start of the process
	next       time.Time
	pauses     backoff.ExponentialBackOff
	refused    *refusal // content that is not worth downloading again
}

func newEntry(image openshift.OSImage, path string) *entry {
	e := &entry{image: image, path: path}
	e.state = StateWaiting
	e.pauses = backoff.ExponentialBackOff{
		InitialInterval: firstPause, Multiplier: 2, RandomizationFactor: 0.2, MaxInterval: longestPause,
	}
	e.pauses.Reset()
	return e
}

// started and the following are steps of one try; the caller holds the store's mutex.
func (p *progress) started(now time.Time) {
	p.running, p.state, p.began, p.beganAt, p.logged = true, StateDownloading, now, -1, 0
}

func (p *progress) advanced(done, size int64) {
	if p.beganAt < 0 {
		p.beganAt = done
	}
	p.done, p.size = done, size
}

func (p *progress) succeeded(i *Image) {
	p.running, p.state, p.err, p.next, p.refused = false, StateReady, nil, time.Time{}, nil
	p.done, p.size = i.Size, i.Size
	p.pauses.Reset()
}

func (p *progress) failed(err error, now time.Time) {
	if p.beganAt >= 0 && p.done > p.beganAt {
		p.pauses.Reset() // a line that breaks now and then is worth another try soon
	}
	p.running, p.state, p.err = false, StateFailed, err
	p.failures++
	p.next = now.Add(min(p.pauses.NextBackOff(), longestPause))
}

// postponed ends a try that did nothing: the process ends, or another one has the lock.
func (p *progress) postponed(until time.Time) {
	p.running, p.state, p.next = false, StateWaiting, until
}

// lost handles a file that disappeared.
func (p *progress) lost() {
	if p.running || p.state != StateReady {
		return
	}
	p.state, p.next, p.done, p.size = StateWaiting, time.Time{}, 0, 0
}

// request schedules the download of an image on demand.
func (p *progress) request() {
	if p.state == StateOnDemand {
		p.state = StateWaiting
	}
}

// retryAfter returns how long a client should wait before it asks again.
func (p *progress) retryAfter(now time.Time) time.Duration {
	wait := 10 * time.Second
	switch {
	case p.running && p.size > 0 && p.beganAt >= 0 && p.done > p.beganAt:
		wait = time.Duration(float64(now.Sub(p.began)) / float64(p.done-p.beganAt) * float64(p.size-p.done))
	case !p.running && p.next.After(now):
		wait = p.next.Sub(now)
	}
	return min(max(wait, 5*time.Second), longestPause).Round(time.Second)
}
