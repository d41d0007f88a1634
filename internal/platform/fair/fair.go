// Package fair makes goroutines that move many bytes give way to others. The runtime lets a goroutine run for 10 ms when it never waits: a
// dozen uploads from a fast network, or answers that the kernel takes at once, keep a short request waiting for ten times as long.
package fair

import (
	"io"
	"runtime"
)

// turn is how many bytes a goroutine moves before it gives way: less than a tenth of a millisecond of AES-GCM.
const turn = 64 << 10

// mover counts what moved since it gave way last.
type mover struct {
	since   int
	giveWay func()
}

func newMover() mover { return mover{giveWay: runtime.Gosched} }

func (m *mover) moved(n int) {
	if m.since += n; m.since >= turn {
		m.since = 0
		m.giveWay()
	}
}

// Writer returns a writer of an answer that is made in memory, and gives way. It is not for use by several goroutines at once.
func Writer(w io.Writer) io.Writer { return &writer{Writer: w, written: newMover()} }

type writer struct {
	io.Writer
	written mover
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.written.moved(n)
	return n, err //nolint:wrapcheck // the writer's own
}
