package lifecycle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// contractRow is a Refresh row in the words of docs/reference/state-rules.md, "Conditions".
type contractRow struct {
	no   int
	from string // statuses, separated by commas
	to   string // "(same)" stays
	when string // "-" always
	// differs is set in rows that take the place of the contract's, and says why.
	differs string
}

// expression is a condition read from text, over conditions that have a name.
type expression func(holds func(name string) bool) bool

// parse reads "And(A, !Or(B, C(x, y)))": And, Or and Not, "!", and names, which may have
// an argument of their own.
func parse(t *testing.T, text string) expression {
	t.Helper()
	text = strings.TrimSpace(text)
	if rest, found := strings.CutPrefix(text, "!"); found {
		inner := parse(t, rest)
		return func(holds func(string) bool) bool { return !inner(holds) }
	}
	name, rest, _ := strings.Cut(text, "(")
	if !slices.Contains([]string{"And", "Or", "Not"}, name) {
		require.NotContains(t, name, ",", "a name of %q", text)
		return func(holds func(string) bool) bool { return holds(text) }
	}
	require.True(t, strings.HasSuffix(rest, ")"), "end of %q", text)
	var parts []expression
	for _, part := range split(strings.TrimSuffix(rest, ")")) {
		parts = append(parts, parse(t, part))
	}
	return func(holds func(string) bool) bool {
		switch name {
		case "And":
			return !slices.ContainsFunc(parts, func(e expression) bool { return !e(holds) })
		case "Or":
			return slices.ContainsFunc(parts, func(e expression) bool { return e(holds) })
		}
		return !parts[0](holds)
	}
}

// split cuts at the commas outside of brackets.
func split(text string) []string {
	var out []string
	depth, begin := 0, 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			out, begin = append(out, text[begin:i]), i+1
		}
	}
	return append(out, text[begin:])
}

// contractTable is a table whose conditions were read.
type contractTable []struct {
	contractRow
	sources []string
	holds   expression
}

func readTable(t *testing.T, rows []contractRow) contractTable {
	t.Helper()
	out := make(contractTable, len(rows))
	for i, r := range rows {
		out[i].contractRow = r
		for source := range strings.SplitSeq(r.from, ",") {
			out[i].sources = append(out[i].sources, strings.TrimSpace(source))
		}
		out[i].holds = func(func(string) bool) bool { return true }
		if r.when != "-" {
			out[i].holds = parse(t, r.when)
		}
	}
	return out
}

// next returns the status after a refresh and the number of the row; 0 when no row fits.
func (table contractTable) next(status string, holds func(string) bool) (to string, no int) {
	for _, r := range table {
		if !slices.Contains(r.sources, status) || !r.holds(holds) {
			continue
		}
		if r.to == "(same)" {
			return status, r.no
		}
		return r.to, r.no
	}
	return status, 0
}

// differing returns a table with some rows replaced by others of the same number.
func differing(rows, others []contractRow) []contractRow {
	out := slices.Clone(rows)
	for i, r := range out {
		for _, o := range others {
			if o.no == r.no {
				out[i] = o
			}
		}
	}
	return out
}

func TestConditionsAreRead(t *testing.T) {
	t.Parallel()
	holds := func(name string) bool { return name == "A" || name == "C(x, y)" }
	for text, want := range map[string]bool{
		"A": true, "B": false, "!B": true, "And(A, B)": false, "Or(B, A)": true, "Not( Or( B, !A))": true,
		"And(A, !Or(B, D), C(x, y))": true, "And(A,!C(x, y))": false,
	} {
		require.Equal(t, want, parse(t, text)(holds), text)
	}
}
