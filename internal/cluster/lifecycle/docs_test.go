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

const statesIntro = "The first row whose event, status and condition fit decides; when none does, " +
	"a command is refused with 409. `Refresh` and `RefreshStatus`\n" +
	"are evaluated after every change. The other events are commands of users, reports of hosts, and decisions of workflows:\n" +
	"time-outs, phases and attempts of an installation, see [workflows](../workflows.md). No other code changes a status.\n\n" +
	"No is the number of the row in the state machine of openshift/assisted-service, and conditions have the names they have there. " +
	"Rows without a number are additions. A row with a number and an event of its own says why its event differs.\n\n" +
	"The history of a host or cluster has an event for every change of its status. " +
	"When a command or a workflow changes only the status info, it has one too; reports and refreshes leave none then.\n\n"

func TestDocsOfStates(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString(docpage.Title("States and transitions", "internal/cluster/lifecycle"))
	page.WriteString(statesIntro)
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
	page.WriteString("## Groups of validations\nA condition that names a group holds when every rule of the group passes or is disabled.\n\n" +
		"### Of hosts\n`compatible-with-cluster-platform` and `disk-encryption-requirements-satisfied` concern hosts of a cluster.\n\n" +
		groups(lifecycle.HostGroups()) + "### Of clusters\n" + groups(lifecycle.ClusterGroups()))
	docpage.Check(t, *update, "states.md", strings.TrimRight(page.String(), "\n")+"\n")
}

// groups prints groups of validations.
func groups(list []lifecycle.Group) string {
	var cells [][]string
	for _, g := range list {
		ids := docpage.Code(g.IDs, "")
		if g.Others {
			ids = "every rule but " + ids
		}
		cells = append(cells, []string{g.Name, ids})
	}
	return docpage.Table([]string{"group", "rules"}, cells)
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
