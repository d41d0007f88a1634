package view

import (
	"fmt"
	"io"
	"strings"
)

// Screen shows lines that replace each other. On a terminal they are redrawn in place;
// elsewhere each line is printed when it differs from the one before it in its place.
type Screen struct {
	Out io.Writer
	// Interactive is set when Out is a terminal that understands ANSI sequences.
	Interactive bool
	// Width and Height are the terminal's, in characters; zero means unlimited.
	Width, Height int

	drawn int // lines on the terminal now
	shown map[string]string
}

// Line is a line with the name of its place.
type Line struct{ Place, Text string }

// Draw shows the lines. A line without a place is shown on terminals only.
func (s *Screen) Draw(lines []Line) {
	for i := range lines {
		lines[i].Text = Plain(lines[i].Text)
	}
	if s.Interactive {
		s.redraw(lines)
		return
	}
	if s.shown == nil {
		s.shown = map[string]string{}
	}
	for _, l := range lines {
		if l.Place == "" || s.shown[l.Place] == l.Text {
			continue
		}
		s.shown[l.Place] = l.Text
		fmt.Fprintln(s.Out, l.Text)
	}
}

// Say prints a permanent line, above the display.
func (s *Screen) Say(format string, args ...any) {
	text := Plain(fmt.Sprintf(format, args...))
	if s.Interactive {
		s.erase()
	}
	fmt.Fprintln(s.Out, text)
}

// Freeze keeps the display as it is; later output goes below it.
func (s *Screen) Freeze() { s.drawn = 0 }

func (s *Screen) redraw(lines []Line) {
	if s.Height > 1 && len(lines) >= s.Height {
		lines = lines[:s.Height-1] // what scrolls away cannot be redrawn
	}
	var out strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", s.drawn)
	}
	for _, l := range lines {
		text := l.Text
		if s.Width > 0 {
			text = Cut(text, s.Width)
		}
		out.WriteString("\r" + text + "\x1b[K\n")
	}
	out.WriteString("\x1b[J")
	s.drawn = len(lines)
	fmt.Fprint(s.Out, out.String())
}

// erase removes the display; the next Draw makes it again.
func (s *Screen) erase() {
	if s.drawn > 0 {
		fmt.Fprintf(s.Out, "\x1b[%dA\r\x1b[J", s.drawn)
	}
	s.drawn = 0
}
