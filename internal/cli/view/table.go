// Package view renders replies of the API for people at a terminal: tables, and the state of an installation
// that is redrawn in place.
package view

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Table lays out rows under a header in columns two spaces apart. The last column wraps at the width of the terminal; other cells keep
// to one line, and are cut at the limit of their column.
type Table struct {
	Header []string
	Rows   [][]string
	// Limits are the widest a column may be, in characters; zero or missing: any.
	Limits []int
	// Width is the width of the terminal, in characters; zero: unlimited.
	Width int
	// Headless leaves the header out.
	Headless bool
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Lines returns the table, without line ends.
func (t *Table) Lines() []string {
	rows := append([][]string{t.Header}, t.Rows...)
	widths := make([]int, len(t.Header))
	for _, row := range rows {
		for n, cell := range row {
			row[n] = t.fit(n, cell)
			widths[n] = max(widths[n], utf8.RuneCountInString(row[n]))
		}
	}
	if t.Headless {
		rows = rows[1:]
	}
	var lines []string
	for _, row := range rows {
		var line strings.Builder
		last, indent := len(row)-1, 0
		for n, cell := range row[:last] {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[n]-utf8.RuneCountInString(cell)+2))
			indent += widths[n] + 2
		}
		for _, part := range t.wrap(row[last], indent) {
			lines = append(lines, strings.TrimRight(line.String()+part, " "))
			line.Reset()
			line.WriteString(strings.Repeat(" ", indent))
		}
	}
	return lines
}

// narrowest is the width of a last column below which it is not wrapped.
const narrowest = 24

// wrap divides a cell of the last column, which begins at an indent, into lines.
func (t *Table) wrap(cell string, indent int) []string {
	room := t.Width - indent
	if t.Width == 0 || room < narrowest {
		return []string{cell}
	}
	var lines []string
	line, length := "", 0
	for _, word := range strings.Fields(cell) {
		size := utf8.RuneCountInString(word)
		if length > 0 && length+1+size > room {
			lines, line, length = append(lines, line), "", 0
		}
		if length > 0 {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+size
	}
	return append(lines, line)
}

// String returns the table as text.
func (t *Table) String() string { return strings.Join(t.Lines(), "\n") + "\n" }

func (t *Table) fit(column int, cell string) string {
	cell = strings.Join(strings.Fields(Plain(cell)), " ")
	if column >= len(t.Limits) || t.Limits[column] == 0 {
		return cell
	}
	return Cut(cell, t.Limits[column])
}

// Plain replaces what a terminal would act on instead of showing it: control characters (a host's name may hold ESC), and those that
// turn the direction of text.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
			return '\uFFFD'
		}
		return r
	}, text)
}

// Cut shortens a text to a number of characters and shows that it did.
func Cut(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	runes := []rune(text)
	return string(runes[:max(0, limit-1)]) + "…"
}
