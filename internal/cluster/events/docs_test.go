package events_test

import (
	"flag"
	"strings"
	"testing"

	"slipway/internal/cluster/events"
	"slipway/internal/testing/docpage"
)

var update = flag.Bool("update", false, "write the page in docs/reference/")

const reading = "## Reading them\nOldest first, or newest with `order=descending`; `limit` and `offset` page, and the headers `Event-Count` and `Severity-Count-*` count all\n" +
	"that matches. `cluster_id`, `infra_env_id`, `severities`, `message` (a part of it, any case) and `categories` (without it: user) narrow the list together.\n" +
	"`host_ids` (and `host_id`), `cluster_level=true` and `deleted_hosts=true` widen each other: an event is listed when one of them wants it, of one of these\n" +
	"hosts, of no host, or of a host that was deleted. Where none of them is given, `cluster_level=false` and `deleted_hosts=false` leave such events out.\n" +
	"History goes with its cluster or discovery environment, see [housekeeping](../housekeeping.md).\n\n"

func TestDocsOfEvents(t *testing.T) {
	t.Parallel()
	var rows, limits [][]string
	for _, e := range events.Catalogue() {
		if e.Every > 0 {
			limits = append(limits, []string{"`" + string(e.Name) + "`", strings.TrimSuffix(e.Every.String(), "0s"), e.Why})
		}
		rows = append(rows, []string{"`" + string(e.Name) + "`", string(e.Severity), docpage.Code(e.Props, ""), e.Message})
	}
	text := docpage.Title("Events", "internal/cluster/events") + "What users are told, by `GET /v2/events` and `slipway cluster events`. " +
		"Names, severities and properties are those of the v2 contract.\n" +
		"`host_status_updated` is a warning or an error when the new status needs somebody.\n\n" + reading + "## Events that repeat themselves\n" +
		"The same message about the same host, cluster or discovery environment is written once in that time; all others always.\n\n" +
		docpage.Table([]string{"name", "once in", "why"}, limits) + "## All events\n" +
		docpage.Table([]string{"name", "severity", "properties", "message"}, rows)
	docpage.Check(t, *update, "events.md", text[:len(text)-1])
}
