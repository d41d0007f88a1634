package e2e_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	replay "slipway/internal/testing/histories"
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
	sealer, err := encryption.File{Path: filepath.Join(dataDir, "keys")}.LoadOrCreate()
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
func open(t *testing.T, sealer *encryption.Keys, sealed *historypb.History) *historypb.History {
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

// recordFor is set by `make record-histories`.
var recordFor = flag.String("record", "", "version that is about to be released: histories are recorded for it")

// openRecorder opens the folder that histories are recorded into, once.
var openRecorder = sync.OnceValues(func() (*replay.Recorder, error) {
	changelog, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		return nil, err
	}
	return replay.NewRecorder("../../workflows/testdata/replay", *recordFor, replay.Released(string(changelog)))
})

// recorder returns nil where nothing is recorded. A fleet asks for it before it starts: a refusal needs no installation.
func recorder(t *testing.T) *replay.Recorder {
	t.Helper()
	if *recordFor == "" {
		return nil
	}
	r, err := openRecorder()
	require.NoError(t, err)
	return r
}

// record verifies that no history has a secret in it, and writes them for the replay tests where they are recorded; of
// histories that tell the same story it writes one.
func (f *fleet) record(t *testing.T, name string) {
	t.Helper()
	password, _ := f.client.ClusterCredentialsFile(t.Context(), f.id, "kubeadmin-password") // none before it is installed
	r, stories := recorder(t), map[string]bool{}
	for _, h := range histories(t, f.dataDir) {
		for _, secret := range []string{"the-pull-secret-of-this-test", f.pullSecret, f.auth, "PRIVATE KEY", string(password)} {
			require.False(t, secret != "" && strings.Contains(said(t, h.opened), secret), "a secret is in the history of %s", h.id)
		}
		if s := story(h); r != nil && !stories[s] {
			stories[s] = true
			kind, _, _ := strings.Cut(h.id, ":")
			require.NoError(t, r.Write(fmt.Sprintf("%s-%s-%d.json", name, kind, len(stories)), []byte(text(t, h.opened))))
		}
	}
}

// story returns what happened in a history, without ids and times.
func story(h history) string {
	kind, _, _ := strings.Cut(h.id, ":")
	done := scheduled(h)
	for _, e := range h.opened.GetEvents() {
		done[e.GetWorkflowExecutionSignaledEventAttributes().GetSignalName()]++
		done[e.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest().GetInput().GetName()]++
		done[version(e)]++
	}
	last := h.opened.GetEvents()[len(h.opened.GetEvents())-1]
	return fmt.Sprint(kind, slices.Sorted(maps.Keys(done)), last.GetEventType())
}

// version returns the change that an event marks, as workflow.GetVersion records it (versionMarkerName in
// internal/internal_event_handlers.go of go.temporal.io/sdk).
func version(e *historypb.HistoryEvent) string {
	marker := e.GetMarkerRecordedEventAttributes()
	if marker.GetMarkerName() != "Version" {
		return ""
	}
	return string(marker.GetDetails()["change-id"].GetPayloads()[0].GetData())
}

// text returns a history as the replay tests read it: payloads are in base64.
func text(t *testing.T, h *historypb.History) string {
	t.Helper()
	data, err := protojson.Marshal(h)
	require.NoError(t, err)
	return string(data)
}

// said returns everything in a history, for searches: its text, and what each payload holds.
func said(t *testing.T, h *historypb.History) string {
	t.Helper()
	var all strings.Builder
	all.WriteString(text(t, h))
	err := proxy.VisitPayloads(t.Context(), proto.Clone(h).(*historypb.History), proxy.VisitPayloadsOptions{
		Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
			for _, p := range payloads {
				all.Write(p.GetData())
			}
			return payloads, nil
		},
	})
	require.NoError(t, err)
	return all.String()
}
