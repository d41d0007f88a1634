package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"slipway/internal/cli/view"
)

// Terminal is the output of a command, and its clock. Commands get it by kong's bindings.
type Terminal struct {
	Out, Err io.Writer
	// In is where a user answers questions; nil: there is no user.
	In  io.Reader
	Now func() time.Time
	// Interactive is set when Out is a terminal; Width and Height are its size in characters.
	Interactive   bool
	Width, Height int
}

// NewTerminal returns the terminal that out and errs print to; out is interactive when it is a
// character device, and questions are asked where the standard input is one.
func NewTerminal(out, errs io.Writer, now func() time.Time) *Terminal {
	t := &Terminal{Out: out, Err: errs, Now: now}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		t.In = os.Stdin
	}
	file, isFile := out.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return t
	}
	t.Interactive = true
	if width, height, err := term.GetSize(int(file.Fd())); err == nil {
		t.Width, t.Height = width, height
	}
	return t
}

// Screen makes a screen on this terminal.
func (t *Terminal) Screen() *view.Screen {
	return &view.Screen{Out: t.Out, Interactive: t.Interactive, Width: t.Width, Height: t.Height}
}

// printf prints a text with nothing that a terminal would act on, whatever a host calls itself: a pipe may end in one.
func (t *Terminal) printf(format string, args ...any) {
	_, _ = io.WriteString(t.Out, view.Plain(fmt.Sprintf(format, args...))) // the reader has gone
}

// note prints a line on stderr, apart from the output that scripts read.
func (t *Terminal) note(format string, args ...any) {
	_, _ = io.WriteString(t.Err, view.Plain(fmt.Sprintf(format, args...))+"\n") // the reader has gone
}

// write prints text of the API as it is.
func (t *Terminal) write(text []byte) { _, _ = t.Out.Write(text) } // the reader has gone

// table prints a table as wide as the terminal.
func (t *Terminal) table(table *view.Table) {
	table.Width = t.Width
	t.printf("%s", table.String())
}

// below prints a table after an empty line.
func (t *Terminal) below(table *view.Table) {
	t.printf("\n")
	t.table(table)
}

// prompt prints a question on stderr.
func (t *Terminal) prompt(question string) { _, _ = io.WriteString(t.Err, view.Plain(question)) }

// json prints a value for machines.
func (t *Terminal) json(v any) error {
	encoder := json.NewEncoder(t.Out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// fields prints names and values in two columns; names without a value are left out.
func (t *Terminal) fields(pairs ...string) {
	table := view.Table{Header: []string{"", ""}, Headless: true}
	for n := 0; n+1 < len(pairs); n += 2 {
		if pairs[n+1] != "" {
			table.Add(pairs[n]+":", pairs[n+1])
		}
	}
	if len(table.Rows) > 0 {
		t.table(&table)
	}
}

// age returns how long ago something was.
func (t *Terminal) age(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	d := t.Now().Sub(at)
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
}

// lines splits a flag's content into lines without spaces around them.
func lines(content []byte) string { return strings.TrimSpace(string(content)) }
