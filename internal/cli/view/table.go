// Package view renders replies of the API for people at a terminal: tables, and the state of an installation
// that is redrawn in place.
package view

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Table lays out rows under a header in columns two spaces apart. A cell keeps to one
// line; those longer than the limit of their column are cut.
type Table struct {
	Header []string
	Rows   [][]string
	// Limits are the widest a column may be, in characters; zero or missing: any.
	Limits []int
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
	lines := make([]string, len(rows))
	for r, row := range rows {
		var line strings.Builder
		for n, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[n]-utf8.RuneCountInString(cell)+2))
		}
		lines[r] = strings.TrimRight(line.String(), " ")
	}
	return lines
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
