package view_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"slipway/internal/cli/view"
)

func TestTable(t *testing.T) {
	t.Parallel()
	table := view.Table{Header: []string{"NAME", "INFO"}, Limits: []int{0, 8}}
	table.Add("a", "short")
	table.Add("longer", "a text\nof two lines")
	require.Equal(t, "NAME    INFO\na       short\nlonger  a text …\n", table.String())
}

func TestOneLineKeepsTheEndOfProgress(t *testing.T) {
	t.Parallel()
	require.Equal(t, "write: > 3% Error: broken", view.OneLine("write:\n> 1%  \r> 2%  \r> 3%  \r\n\nError:   broken\n"))
}

func TestFailingListsRulesByCategory(t *testing.T) {
	t.Parallel()
	const info = `{"network":[{"id":"n","status":"failure","message":"m"},{"id":"p","status":"pending"}],"hardware":[{"id":"h","status":"error"}]}`
	require.Equal(t, []view.Validation{{ID: "h", Status: "error"}, {ID: "n", Status: "failure", Message: "m"}}, view.Failing(info, false))
	require.Len(t, view.Failing(info, true), 3)
	require.Empty(t, view.Failing("", true))
}

func TestScreenRedrawsInPlaceOnATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	screen := view.Screen{Out: &out, Interactive: true, Width: 5}
	screen.Draw([]view.Line{{Text: "one"}, {Text: "wider than that"}})
	require.Equal(t, "\rone\x1b[K\n\rwide…\x1b[K\n\x1b[J", out.String())
	out.Reset()
	screen.Draw([]view.Line{{Text: "two"}})
	require.Equal(t, "\x1b[2A\rtwo\x1b[K\n\x1b[J", out.String())
	out.Reset()
	screen.Say("said")
	require.Equal(t, "\x1b[1A\r\x1b[Jsaid\n", out.String())
}

func TestScreenCutsWhatWouldScrollAway(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	screen := view.Screen{Out: &out, Interactive: true, Height: 3}
	screen.Draw([]view.Line{{Text: "1"}, {Text: "2"}, {Text: "3"}, {Text: "4"}})
	require.Equal(t, "\r1\x1b[K\n\r2\x1b[K\n\x1b[J", out.String())
}

func TestScreenPrintsOnlyChangesElsewhere(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	screen := view.Screen{Out: &out}
	screen.Draw([]view.Line{{Place: "a", Text: "one"}, {Text: "header"}, {Place: "b", Text: "x"}})
	screen.Draw([]view.Line{{Place: "a", Text: "one"}, {Place: "b", Text: "y"}})
	require.Equal(t, "one\nx\ny\n", out.String())
}

// Attack: a host writes control characters.
func TestHostsDoNotWriteOnTheTerminal(t *testing.T) {
	t.Parallel()
	evil := "evil\x1b]0;TITLE\x07\x1b[31m\u202ehost\u009b2J"
	table := view.Table{Header: []string{"NAME", "ID"}}
	table.Add(evil, "1")
	var out bytes.Buffer
	screen := view.Screen{Out: &out}
	screen.Draw([]view.Line{{Place: "a", Text: evil}})
	screen.Say("host %s", evil)
	for _, shown := range []string{table.String(), out.String(), view.Plain(evil)} {
		require.Contains(t, shown, "evil\uFFFD]0;TITLE")
		require.NotContains(t, strings.ReplaceAll(shown, "\n", ""), "\x1b")
		require.False(t, strings.ContainsFunc(strings.ReplaceAll(shown, "\n", ""), unicode.IsControl), "%q", shown)
		require.NotContains(t, shown, "\u202e")
	}
}
