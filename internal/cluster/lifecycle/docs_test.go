package lifecycle_test

import (
	"flag"
	"strconv"
	"strings"
	"testing"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/testing/docpage"
)

var update = flag.Bool("update", false, "write the page in docs/reference/")

func TestDocsOfStates(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString(docpage.Title("States and transitions", "internal/cluster/lifecycle"))
	page.WriteString(`The first row whose event, status and condition fit decides; when none does, a command is refused with 409. ` +
		"`Refresh` and `RefreshStatus`\n" + `are evaluated after every change, the other events are commands and reports. ` +
		`No is the line of the v2 contract's table; rows without one are ours. Conditions have the contract's names.

While an installation runs its workflow decides about time-outs and phases, see [workflows](../workflows.md): the refresh leaves them to it.

`)
	for _, table := range []struct {
		title string
		rows  []lifecycle.Row
	}{
		{"Hosts of a cluster", lifecycle.HostTable()},
		{"Hosts without a cluster", lifecycle.PoolTable()},
		{"Clusters", lifecycle.ClusterTable()},
	} {
		page.WriteString("## " + table.title + "\n" + transitions(table.rows))
	}
	docpage.Check(t, *update, "states.md", strings.TrimRight(page.String(), "\n")+"\n")
}

func transitions(rows []lifecycle.Row) string {
	var cells [][]string
	for _, r := range rows {
		no, to := "", "stays"
		if r.No > 0 {
			no = strconv.Itoa(r.No)
		}
		if r.To != "" {
			to = "`" + r.To + "`"
		}
		name := r.Name
		if r.Why != "" {
			name += ": " + r.Why
		}
		cells = append(cells, []string{no, "`" + r.Event + "`", docpage.Code(r.From, "(new)"), to, r.When, name})
	}
	return docpage.Table([]string{"No", "event", "from", "to", "when", "row, and why ours differs"}, cells)
}
