package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"slipway/workflows"
)

// The images of a host may take a quarter of an hour: its user can change a bad disk, or another host, meanwhile.
func TestFailedCheckEndsThePreparationAtOnce(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["master-1 installation-disk-speed-check"] = []error{stepFailed("write: I/O error")}
	w.fails["judge"] = []error{refused("Require a disk that is fast enough, /dev/sda is not")}
	w.blocked["master-1 container-image-availability"] = true
	w.blocked["master-2 container-image-availability"] = true
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.True(t, env.IsWorkflowCompleted())
	lines := w.lines()
	indexOf(t, lines, "conclude false master-1: Require a disk that is fast enough, /dev/sda is not")
	require.Equal(t, 0, count(lines, "master-0 disk-clean"))
}

func TestFailedCheckThatIsIgnoredEndsNothing(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["master-1 installation-disk-speed-check"] = []error{stepFailed("write: I/O error")}
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Equal(t, 1, count(lines, "master-1 is judged"))
	require.Equal(t, "complete", lines[len(lines)-1])
}

// Histories of 0.1.0 have no such end.
func TestFailedCheckWasJudgedWithTheOthersBefore(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["master-1 installation-disk-speed-check"] = []error{stepFailed("write: I/O error")}
	env := environment(t, w)
	env.OnGetVersion("failed-checks", workflow.DefaultVersion, workflow.Version(1)).Return(workflow.DefaultVersion)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 0, count(w.lines(), "master-1 is judged"))
}
