package e2e_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"slipway/internal/platform/encryption"
	"slipway/internal/service/orchestrator"
	"slipway/test/built"
)

// history is one workflow as Temporal keeps it, and as its payloads read once opened.
type history struct {
	id     string
	raw    *historypb.History
	opened *historypb.History
}

// histories reads every workflow of the namespace.
func histories(t *testing.T, dataDir string) []history {
	t.Helper()
	ctx := t.Context()
	c, err := client.DialContext(ctx, built.Temporal(t, dataDir))
	require.NoError(t, err)
	defer c.Close()
	sealer, err := encryption.LoadOrCreate(filepath.Join(dataDir, "keys"))
	require.NoError(t, err)
	list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: ""})
	require.NoError(t, err)
	var all []history
	for _, e := range list.GetExecutions() {
		h := history{id: e.GetExecution().GetWorkflowId(), raw: &historypb.History{}}
		events := c.GetWorkflowHistory(ctx, e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId(), false,
			enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			require.NoError(t, err)
			h.raw.Events = append(h.raw.Events, event)
		}
		h.opened = open(t, sealer, h.raw)
		all = append(all, h)
	}
	return all
}

// open decodes every payload of a history, so that it can be read and replayed.
func open(t *testing.T, sealer *encryption.Sealer, sealed *historypb.History) *historypb.History {
	t.Helper()
	plain := proto.Clone(sealed).(*historypb.History)
	codec := orchestrator.Codec{Sealer: sealer}
	err := proxy.VisitPayloads(t.Context(), plain, proxy.VisitPayloadsOptions{
		Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
			return codec.Decode(payloads)
		},
		SkipSearchAttributes: true,
	})
	require.NoError(t, err)
	return plain
}

// record writes opened histories for the replay tests, when RECORD_HISTORIES names a
// folder; of histories that tell the same story it writes one.
func record(t *testing.T, name string, all []history) {
	t.Helper()
	dir := os.Getenv("RECORD_HISTORIES")
	if dir == "" {
		return
	}
	stories := map[string]bool{}
	for _, h := range all {
		kind, _, _ := strings.Cut(h.id, ":")
		if s := story(h); !stories[s] {
			stories[s] = true
			data, err := protojson.Marshal(h.opened)
			require.NoError(t, err)
			file := fmt.Sprintf("%s-%s-%d.json", name, kind, len(stories))
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), data, 0o644))
		}
	}
}

// story is what a history did, without ids and times.
func story(h history) string {
	kind, _, _ := strings.Cut(h.id, ":")
	done := slices.Sorted(maps.Keys(scheduled(h)))
	last := h.opened.GetEvents()[len(h.opened.GetEvents())-1]
	return fmt.Sprint(kind, done, last.GetEventType())
}

// text is everything a history says, sealed or not, for searches.
func text(t *testing.T, h *historypb.History) string {
	t.Helper()
	data, err := protojson.Marshal(h)
	require.NoError(t, err)
	return string(data)
}
