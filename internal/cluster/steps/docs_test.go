package steps_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/testing/docpage"
	"slipway/internal/wire"
)

var update = flag.Bool("update", false, "write the page in docs/reference/")

func TestDocsOfTheCatalogue(t *testing.T) {
	t.Parallel()
	text := docpage.Title("Catalogue of steps", "internal/cluster/steps") +
		"Every step a host can run. [Steps of discovery](steps.md) says when steps of discovery are due, [Steps and their " +
		"results](../steps-and-results.md)\n" +
		"how steps of an installation are commanded.\n\n" +
		"## Steps\nThe time limit is the agent's; an agent that was restarted in the middle reports exit code 75.\n\n" +
		docpage.Table([]string{"step", "agents", "on the host", "writes a disk", "time limit", "the reply is"}, catalogue()) +
		"## Stages\nThe stages each role passes, in order; arbiters are masters here. Agents of other implementations take one " +
		"`install` step for everything up to the reboot, and report the stages.\n\n" +
		docpage.Table([]string{"role", "stage", "ends with"}, stages())
	docpage.Check(t, *update, "step-catalogue.md", text[:len(text)-1])
}

func TestArbitersPassTheStagesOfMasters(t *testing.T) {
	t.Parallel()
	require.Equal(t, steps.StagesFor(model.RoleMaster, false, false), steps.StagesFor(model.RoleArbiter, false, false))
}

func catalogue() [][]string {
	agents := map[steps.Agents]string{steps.AnyAgent: "all", steps.OurAgent: "ours", steps.OtherAgents: "others"}
	replies := map[steps.Reply]string{
		steps.ReplyUnexpected: "refused", steps.ReplyResult: "the result of the step",
		steps.ReplyDiscovery: "a fact until the preparation", steps.ReplyPreparation: "a fact until the installation",
	}
	var rows [][]string
	for _, s := range steps.All() {
		writes := "no"
		if s.WritesDisk {
			writes = "yes"
		}
		rows = append(rows, []string{"`" + string(s.Type) + "`", agents[s.Agents], s.Does, writes, limit(s.Timeout), replies[s.Reply]})
	}
	return rows
}

func limit(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d min", d/time.Minute)
}

func stages() [][]string {
	endings := map[steps.Ending]string{
		steps.ByChecks: "the checks before an installation", steps.ByControlPlane: "a control plane that is up",
		steps.ByBoot: "the first report from the disk", steps.ByReport: "a report of the stage",
		steps.AtOnce: "at once", steps.NotAwaited: "not awaited: only some hosts report it",
	}
	all := roles()
	var rows [][]string
	for _, role := range []string{"bootstrap", "master", "worker", "single node", "day-2"} {
		for _, stage := range all[role] {
			ends := endings[stage.Ends]
			if stage.Ends == steps.BySteps {
				ends = docpage.Code(texts(stage.Steps), "")
			}
			rows = append(rows, []string{role, string(stage.Name), ends})
		}
	}
	return rows
}

func texts(list []wire.StepType) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
