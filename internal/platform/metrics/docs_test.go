package metrics_test

import (
	"flag"
	"testing"

	"slipway/internal/platform/metrics"
	"slipway/internal/testing/docpage"
)

var update = flag.Bool("update", false, "write the page in docs/reference/")

const intro = "`GET /metrics` of every process, also of `slipway worker`, in the format of Prometheus. Each process counts its own work " +
	"since its start: add up\n" +
	"over replicas (`sum by (...)`), but use one value of metrics that are read from the database (`max`). Events of the history are " +
	"counted after the commit of\n" +
	"the transaction that wrote them, so that a rolled back change is not counted. Names and labels that begin with " +
	"`service_assisted_installer_` are those\n" +
	"that dashboards of the v2 API use; the spelling of `miliseconds` is part of one. Metrics of Go, of the process and of the embedded " +
	"Temporal are exposed as well.\n\n"

func TestDocsOfMetrics(t *testing.T) {
	t.Parallel()
	var rows [][]string
	for _, m := range metrics.List() {
		rows = append(rows, []string{"`" + m.Name + "`", m.Kind, docpage.Code(m.Labels, ""), m.Help})
	}
	text := docpage.Title("Metrics", "internal/platform/metrics") + intro + docpage.Table([]string{"name", "kind", "labels", "what"}, rows)
	docpage.Check(t, *update, "metrics.md", text[:len(text)-1])
}
