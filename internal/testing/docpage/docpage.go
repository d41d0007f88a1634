// Package docpage keeps the pages of docs/reference/ that are printed from tables of the code up to date, and reads the tables of
// hand-written pages, so that tests compare them with the code. Only tests import it.
package docpage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/stretchr/testify/require"
)

// Check compares docs/reference/name with text, whose prose it wraps, or with update set writes it.
func Check(t *testing.T, update bool, name, text string) {
	t.Helper()
	text = wrap(text)
	path := filepath.Join(root(t), "docs", "reference", name)
	if update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err, "run make generate and commit what it writes")
	if text != string(have) {
		t.Fatalf("docs/reference/%s is out of date: run make generate and commit what it writes\n%s", name, difference(string(have), text))
	}
}

// difference returns a unified diff of two pages.
func difference(have, want string) string {
	diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(have), B: difflib.SplitLines(want), FromFile: "committed", ToFile: "generated", Context: 1,
	})
	if err != nil {
		return err.Error()
	}
	return diff
}

// Rows returns the cells of the first table below a heading of docs/reference/name, or below
// a paragraph that begins with the heading in bold type, without the head of the table.
// Cells have no marks of code.
func Rows(t *testing.T, name, heading string) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "reference", name))
	require.NoError(t, err)
	var out [][]string
	found := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.TrimLeft(line, "# ") == heading || strings.HasPrefix(line, "**"+heading+".**"):
			found = true
		case found && strings.HasPrefix(line, "|"):
			cells := strings.Split(strings.Trim(strings.ReplaceAll(line, "`", ""), "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			out = append(out, cells)
		case len(out) > 0:
			require.Greater(t, len(out), 2, "the table below %q of %s has no rows", heading, name)
			return out[2:]
		}
	}
	require.Greater(t, len(out), 2, "docs/reference/%s has no table below %q", name, heading)
	return out[2:]
}

// root returns the folder of the module, above the folder of the package under test.
func root(t *testing.T) string {
	t.Helper()
	folder, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		require.NotEqual(t, folder, filepath.Dir(folder), "no go.mod above the package")
		folder = filepath.Dir(folder)
	}
}

// Title begins a page: its subject, and the package whose tables it is printed from.
func Title(title, source string) string {
	return "# " + title + "\n<!-- Printed from the tables of " + source + " by make generate: edit those. -->\n\n"
}

// Table returns a table in Markdown; every row has as many cells as head.
func Table(head []string, rows [][]string) string {
	var out strings.Builder
	line := func(cells []string) {
		out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	line(head)
	out.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = strings.ReplaceAll(cell, "|", `\|`)
		}
		line(cells)
	}
	return out.String() + "\n"
}

// Code sets names as code, separated by commas; none are the text none.
func Code(names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	return "`" + strings.Join(names, "`, `") + "`"
}
