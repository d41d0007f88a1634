package events_test

import (
	"flag"
	"testing"

	"slipway/internal/docpage"
	"slipway/internal/events"
)

var update = flag.Bool("update", false, "write the page in docs/")

func TestDocsOfEvents(t *testing.T) {
	t.Parallel()
	var rows [][]string
	for _, e := range events.Catalogue() {
		rows = append(rows, []string{"`" + string(e.Name) + "`", string(e.Severity), docpage.Code(e.Props, ""), e.Message})
	}
	text := docpage.Title("Events", "internal/events") + "What users are told, by `GET /v2/events` and `slipway cluster events`. " +
		"Names, severities and properties are those of the v2 contract; some of its\nevents belong to operations that are not built yet. " +
		"`host_status_updated` is a warning or an error when the new status needs somebody.\n\n" +
		docpage.Table([]string{"name", "severity", "properties", "message"}, rows)
	docpage.Check(t, *update, "events.md", text[:len(text)-1])
}
