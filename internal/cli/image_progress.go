package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"slipway/internal/cli/view"
)

// progress shows the progress of a download: a bar on a terminal, elsewhere a line for every tenth, on stderr.
type progress struct {
	terminal *Terminal
	name     string // of the file

	at, size int64 // bytes
	printed  int64 // tenths
	bar      *progressbar.ProgressBar
	screen   *view.Screen
}

func (p *progress) out() io.Writer {
	if p.terminal.Interactive {
		return p.terminal.Out
	}
	return p.terminal.Err
}

// begin notes that bytes begin to come, from one on.
func (p *progress) begin(from, size int64) {
	p.at, p.size, p.printed, p.screen = from, size, tenths(from, size), nil
	if from > 0 {
		p.says("%s: resuming at %s", p.name, amount(from, size))
	}
	if !p.terminal.Interactive {
		return
	}
	p.bar = progressbar.NewOptions64(
		size,
		progressbar.OptionSetWriter(p.out()),
		progressbar.OptionSetDescription(p.name),
		progressbar.OptionShowBytes(
			true,
		),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(
			100*time.Millisecond,
		),
		progressbar.OptionSetWidth(max(10, min(40, p.terminal.Width-len(p.name)-50))),
		progressbar.OptionClearOnFinish(),
	)
	_ = p.bar.Set64(from) // a bar that cannot be drawn is no reason to end
}

// add counts bytes that have come.
func (p *progress) add(n int) {
	p.at += int64(n)
	if p.bar != nil {
		_ = p.bar.Add(n)
		return
	}
	if t := tenths(p.at, p.size); t > p.printed {
		p.printed = t
		fmt.Fprintf(p.out(), "%s: %d %% of %d MiB\n", p.name, t*10, mebibytes(p.size))
	}
}

// end notes that no more bytes come over a connection.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}

// says prints a permanent line.
func (p *progress) says(format string, args ...any) {
	p.end()
	fmt.Fprintf(p.out(), format+"\n", args...)
}

// waits shows the reason for waiting, replacing the previous one.
func (p *progress) waits(text string) {
	if p.screen == nil {
		p.screen = &view.Screen{Out: p.out(), Interactive: p.terminal.Interactive, Width: p.terminal.Width, Height: p.terminal.Height}
	}
	p.screen.Draw([]view.Line{{Place: p.name, Text: text}})
}

func tenths(at, size int64) int64 {
	if size == 0 {
		return 0
	}
	return 10 * at / size
}

// amount formats "312 of 1187 MiB".
func amount(at, size int64) string {
	return fmt.Sprintf("%d of %d MiB", mebibytes(at), mebibytes(size))
}

func mebibytes(bytes int64) int64 { return (bytes + 1<<19) >> 20 }
