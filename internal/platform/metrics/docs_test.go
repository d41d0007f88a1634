package metrics_test

import (
	"flag"
	"strings"
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

const temporalIntro = "## Temporal's SDK\nWhat the clients and workers of Slipway see of Temporal, bundled or not: " +
	"names and labels are listed in [its documentation](https://docs.temporal.io/references/sdk-metrics).\n" +
	"Metrics of tasks come from processes with a worker, `slipway up` and `slipway worker`. " +
	"A metric keeps at most 200 sets of labels; the rest is one\nwith `otel_metric_overflow`.\n\n"

const alerts = "## Alerts\nRules for Prometheus are in [alerts.yaml](../../deploy/helm/slipway/alerts.yaml) of the Helm chart, " +
	"a dashboard for Grafana in `dashboards/` beside it.\nTemporal tries a workflow task that fails again after 10 minutes at most, " +
	"without end, and the workflow continues by itself once a\nworker can run it; after a change of versions see " +
	"[upgrade](../upgrade.md).\n"

func TestDocsOfMetrics(t *testing.T) {
	t.Parallel()
	var slipways, temporals []metrics.Metric
	for _, m := range metrics.List() {
		if strings.HasPrefix(m.Name, "temporal_") {
			temporals = append(temporals, m)
		} else {
			slipways = append(slipways, m)
		}
	}
	header := []string{"name", "kind", "labels", "what"}
	text := docpage.Title("Metrics", "internal/platform/metrics") + intro + docpage.Table(header, rows(slipways)) +
		temporalIntro + docpage.Table(header, rows(temporals)) + alerts
	docpage.Check(t, *update, "metrics.md", text)
}

func rows(list []metrics.Metric) (rows [][]string) {
	for _, m := range list {
		rows = append(rows, []string{"`" + m.Name + "`", m.Kind, docpage.Code(m.Labels, ""), m.Help})
	}
	return rows
}
