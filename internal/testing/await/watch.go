package await

import (
	"bytes"
	"os"
	"strconv"
	"testing"
	"time"
)

// patience is how long nothing may progress while the machine has a processor free.
const patience = 10 * time.Minute

// pressureFile holds how long tasks have waited for a processor since the machine's start (Documentation/accounting/psi.rst in Linux).
const pressureFile = "/proc/pressure/cpu"

// Watch says when a wait is in vain: nothing has progressed for ten minutes in which the machine had a processor free, or the test
// process is about to end. It is for one goroutine.
type Watch struct {
	end      time.Time
	looked   time.Time
	starved  time.Duration
	left     time.Duration
	state    string
	pressure func() time.Duration
}

// Begin starts a watch.
func Begin(t testing.TB) *Watch {
	now := time.Now()
	return &Watch{end: now.Add(Limit(t)), looked: now, starved: starvation(), left: patience, pressure: starvation}
}

// Over reports whether the wait is in vain.
func (w *Watch) Over() bool {
	now := time.Now()
	if passed := now.Sub(w.looked); passed >= lookEvery {
		starved := w.pressure()
		w.left -= max(passed-(starved-w.starved), 0)
		w.looked, w.starved = now, starved
	}
	return w.left <= 0 || now.After(w.end)
}

// Progress starts the patience anew when the state is another than before.
func (w *Watch) Progress(state string) {
	if state != w.state {
		w.state, w.left = state, patience
	}
}

// starvation returns how long some task has waited for a processor since the machine's start; zero where Linux does not count it.
func starvation() time.Duration {
	text, err := os.ReadFile(pressureFile)
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	_, total, found := bytes.Cut(line, []byte("total="))
	if !found {
		return 0
	}
	microseconds, err := strconv.ParseInt(string(total), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(microseconds) * time.Microsecond
}
