package workflows_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	historypb "go.temporal.io/api/history/v1"

	"slipway/internal/testing/histories"
	slipway "slipway/worker"
)

// TestRecordedHistoriesReplay replays histories of real installations, recorded by
// `make record-histories` for each released version: a change of a workflow that an
// installation under way could not survive fails here.
func TestRecordedHistoriesReplay(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/replay/*/*.json.gz")
	require.NoError(t, err)
	require.NotEmpty(t, files, "no recorded history was found")
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/replay/"), func(t *testing.T) {
			t.Parallel()
			data, err := histories.Read(file)
			require.NoError(t, err)
			var history historypb.History
			require.NoError(t, protojson.Unmarshal(data, &history))
			replayer := worker.NewWorkflowReplayer()
			slipway.RegisterWorkflows(replayer)
			id := history.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowId()
			require.NoError(t, replayer.ReplayWorkflowHistoryWithOptions(nil, &history, worker.ReplayWorkflowHistoryOptions{
				OriginalExecution: workflow.Execution{ID: id},
			}))
		})
	}
}
