package view_test

import (
	"bytes"
	"testing"

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
