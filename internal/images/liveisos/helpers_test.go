package liveisos_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/images/liveisos"
	"slipway/internal/images/remaster"
	"slipway/internal/testing/httpclient"
	"slipway/internal/testing/isotest"
)

const (
	ready   = "operating system image ready"
	notYet  = "operating system image does not exist"
	again   = "operating system image download resumed"
	anew    = "operating system image download restarted: the source changed, or sends no ranges"
	patient = time.Minute
)

// clock stands still until a test moves it.
type clock struct {
	mu   sync.Mutex
	now  time.Time
	tick chan time.Time
}

func newClock() *clock {
	return &clock{now: time.Now(), tick: make(chan time.Time)}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(time.Duration) <-chan time.Time { return c.tick }

// advance moves the clock, and returns once the store has noticed.
func (c *clock) advance(t *testing.T, d time.Duration) {
	t.Helper()
	c.mu.Lock()
	c.now = c.now.Add(d)
	now := c.now
	c.mu.Unlock()
	select {
	case c.tick <- now:
	case <-time.After(patient):
		require.Fail(t, "the store does not wait for the clock")
	}
}

// journal is a log that tests wait on.
type journal struct {
	t     *testing.T
	lines chan string
}

func newJournal(t *testing.T) *journal { return &journal{t, make(chan string, 10_000)} }

func (j *journal) Enabled(context.Context, slog.Level) bool { return true }
func (j *journal) WithAttrs([]slog.Attr) slog.Handler       { return j }
func (j *journal) WithGroup(string) slog.Handler            { return j }
func (j *journal) Handle(_ context.Context, r slog.Record) error {
	j.lines <- r.Message
	return nil
}

// await reads the log up to a line, and reports whether another one came before it.
func (j *journal) await(line string) (before []string) {
	j.t.Helper()
	for {
		select {
		case got := <-j.lines:
			if got == line {
				return before
			}
			before = append(before, got)
		case <-time.After(patient):
			require.Fail(j.t, "not in the log in time", "%s; only %q", line, before)
		}
	}
}

// bench is a store with what belongs to it.
type bench struct {
	*liveisos.Store
	t     *testing.T
	o     liveisos.Options
	clock *clock
	log   *journal
}

// newBench opens a store that takes the small images of tests. change may be nil.
func newBench(t *testing.T, images openshift.OSImages, change func(*liveisos.Options)) *bench {
	t.Helper()
	b := &bench{t: t, clock: newClock(), log: newJournal(t)}
	b.o = liveisos.Options{
		Folder: filepath.Join(t.TempDir(), "images"), Images: images, Client: httpclient.New(t),
		Log: slog.New(b.log), Now: b.clock.Now, After: b.clock.After,
		Complete: func(*remaster.Base) error { return nil },
	}
	if change != nil {
		change(&b.o)
	}
	var err error
	b.Store, err = liveisos.Open(b.o)
	require.NoError(t, err)
	return b
}

// run starts the store, and returns what ends it; the end of the test does so too.
func (b *bench) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { b.Run(ctx) })
	stop = func() { cancel(); done.Wait() }
	b.t.Cleanup(stop)
	return stop
}

// restarted makes a new store with the same options, folder and clock.
func (b *bench) restarted(change func(*liveisos.Options)) *bench {
	b.t.Helper()
	later := newBench(b.t, nil, func(o *liveisos.Options) {
		log := o.Log
		*o = b.o
		o.Log = log
		if change != nil {
			change(o)
		}
	})
	later.clock = b.clock
	return later
}

func (b *bench) status(version string) liveisos.Status {
	b.t.Helper()
	for _, s := range b.Status() {
		if s.OpenShiftVersion == version {
			return s
		}
	}
	require.Fail(b.t, "no status", version)
	return liveisos.Status{}
}

func (b *bench) requireContent(version string, want []byte) {
	b.t.Helper()
	found, err := b.Find(version, "x86_64", "")
	require.NoError(b.t, err)
	f, err := found.Open()
	require.NoError(b.t, err)
	defer f.Close()
	got, err := os.ReadFile(found.Path)
	require.NoError(b.t, err)
	require.True(b.t, bytes.Equal(want, got), "the file has the server's content")
	require.Equal(b.t, sum(want), found.ID)
	require.EqualValues(b.t, len(want), found.Size)
	require.NotNil(b.t, found.Base)
}

func (b *bench) files() (names []string) {
	b.t.Helper()
	files, err := os.ReadDir(b.o.Folder)
	require.NoError(b.t, err)
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), ".") {
			names = append(names, f.Name())
		}
	}
	return names
}

func listed(version, url string) openshift.OSImage {
	return openshift.OSImage{OpenShiftVersion: version, CPUArchitecture: "x86_64", URL: url, Version: "9.6"}
}

// iso returns the content of an image; each label makes another one.
func iso(t *testing.T, label string) []byte {
	t.Helper()
	content, err := os.ReadFile(isotest.Build(t, isotest.Options{Label: "rhcos-" + label}))
	require.NoError(t, err)
	return content
}

func sum(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}

// mirror serves one image, and can be made to misbehave.
type mirror struct {
	*httptest.Server
	mu       sync.Mutex
	content  []byte
	etag     string
	cut      int  // bytes after which the connection breaks; 0: never
	noRanges bool // every request gets the whole
	hold     chan struct{}
	requests []*http.Request
}

func newMirror(t *testing.T, content []byte, etag string) *mirror {
	t.Helper()
	m := &mirror{content: content, etag: etag}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

func (m *mirror) set(change func(*mirror)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

// asked lists the values of a header in the requests so far.
func (m *mirror) asked(header string) (values []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.requests {
		values = append(values, r.Header.Get(header))
	}
	return values
}

// ServeHTTP implements http.Handler.
func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.requests = append(m.requests, r)
	content, etag, cut, noRanges, hold := m.content, m.etag, m.cut, m.noRanges, m.hold
	m.mu.Unlock()
	if etag != "" {
		w.Header().Set("ETag", etag)
	}
	if noRanges {
		r.Header.Del("Range")
	}
	if cut > 0 {
		w = &cutWriter{w, cut, hold, r}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// cutWriter breaks the connection after some bytes, or goes silent there when it has a
// channel to hold it.
type cutWriter struct {
	http.ResponseWriter
	left int
	hold chan struct{}
	r    *http.Request
}

func (c *cutWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; c.left > 0 || err != nil {
		return n, err
	}
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	if c.hold != nil {
		c.hold <- struct{}{}
		<-c.r.Context().Done()
	}
	panic(http.ErrAbortHandler)
}
