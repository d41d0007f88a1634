package helm_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metricsql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"slipway/internal/images/liveisos"
	"slipway/internal/platform/metrics"
)

// described has the name and the labels in the description of a metric.
var described = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)

// added are the labels that Prometheus adds to what it reads from pods.
var added = []string{"namespace", "pod", "instance"}

// exported maps the series that processes of slipway have to their labels.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	series := map[string][]string{"process_resident_memory_bytes": nil} // of the library's collector of processes
	for _, m := range metrics.List() {
		if m.Kind != "histogram" {
			series[m.Name] = m.Labels
			continue
		}
		series[m.Name+"_count"], series[m.Name+"_sum"] = m.Labels, m.Labels
		series[m.Name+"_bucket"] = append(slices.Clone(m.Labels), "le")
	}
	store, err := liveisos.Open(liveisos.Options{Folder: t.TempDir()})
	require.NoError(t, err)
	descs := make(chan *prometheus.Desc, 16)
	store.Collector().Describe(descs)
	close(descs)
	for desc := range descs {
		found := described.FindStringSubmatch(desc.String())
		require.NotNil(t, found, desc.String())
		series[found[1]] = strings.Split(found[2], ",")
	}
	return series
}

// requireExported reads an expression, and checks that its metrics exist and have the labels that it names. MetricsQL has all of PromQL.
func requireExported(t *testing.T, series map[string][]string, expression string) {
	t.Helper()
	parsed, err := metricsql.Parse(expression)
	require.NoError(t, err, expression)
	var labels, named []string
	metricsql.VisitAll(parsed, func(e metricsql.Expr) {
		switch e := e.(type) {
		case *metricsql.MetricExpr:
			for _, filters := range e.LabelFilterss {
				require.Equal(t, "__name__", filters[0].Label, expression)
				own, found := series[filters[0].Value]
				require.True(t, found, "%s: %s", filters[0].Value, expression)
				labels = append(append(labels, own...), added...)
				for _, filter := range filters[1:] {
					require.Contains(t, slices.Concat(own, added), filter.Label, expression)
				}
			}
		case *metricsql.ModifierExpr:
			named = append(named, e.Args...)
		}
	})
	require.NotEmpty(t, labels, expression)
	for _, label := range named {
		require.Contains(t, labels, label, expression)
	}
}

// rules is a file of rules of Prometheus.
type rules struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			For         string            `json:"for"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

func TestAlertsAskForMetricsThatExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(chart, "alerts.yaml"))
	require.NoError(t, err)
	var file rules
	require.NoError(t, yaml.UnmarshalStrict(text, &file))
	series := exported(t)
	var alerts []string
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			require.NotContains(t, alerts, rule.Alert)
			alerts = append(alerts, rule.Alert)
			requireExported(t, series, rule.Expr)
			require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			require.Contains(t, []string{"critical", "warning", "info"}, rule.Labels["severity"], rule.Alert)
		}
	}
	// What users and operators care about.
	for _, want := range []string{
		"SlipwayClusterWaitsForItsUser", "SlipwayImageWaits", "SlipwayCertificateEnds", "SlipwayDiskFillsUp", "SlipwayDatabaseDoesNotAnswer",
		"SlipwayWorkflowTaskFails",
	} {
		require.Contains(t, alerts, want)
	}

	for _, object := range of(t, "large") { // the rules of Prometheus have templates of their own, which Helm must not read
		if object.GetKind() != "PrometheusRule" {
			continue
		}
		spec, err := json.Marshal(object.Object["spec"])
		require.NoError(t, err)
		var rendered rules
		require.NoError(t, json.Unmarshal(spec, &rendered))
		require.Equal(t, file, rendered)
	}
}

func TestDashboardsAskForMetricsThatExist(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(chart, "dashboards", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	series := exported(t)
	rendered := read[corev1.ConfigMap](t, of(t, "large"), "ConfigMap", "assisted-dashboard-slipway")
	require.Equal(t, "1", rendered.Labels["grafana_dashboard"])
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.JSONEq(t, string(text), rendered.Data[filepath.Base(file)])
		var board struct {
			UID, Title string
			Panels     []struct {
				ID      int
				Type    string
				Title   string
				GridPos struct{ X, Y, W, H int }
				Targets []struct {
					Expr       string
					Datasource struct{ UID string }
				}
			}
		}
		require.NoError(t, json.Unmarshal(text, &board))
		require.NotEmpty(t, board.UID)
		seen, places := []int{}, []string{}
		for _, panel := range board.Panels {
			require.NotContains(t, seen, panel.ID)
			seen = append(seen, panel.ID)
			place, err := json.Marshal(panel.GridPos)
			require.NoError(t, err)
			require.NotContains(t, places, string(place), panel.Title)
			places = append(places, string(place))
			require.LessOrEqual(t, panel.GridPos.X+panel.GridPos.W, 24, panel.Title)
			require.Equal(t, panel.Type == "row", len(panel.Targets) == 0, panel.Title)
			for _, target := range panel.Targets {
				require.Equal(t, "${datasource}", target.Datasource.UID)
				requireExported(t, series, target.Expr)
			}
		}
	}
}

// adapted maps names that prometheus-adapter gives to the metrics that they are made of.
func adapted(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/helm/prometheus-adapter-values.yaml")
	require.NoError(t, err)
	var values struct {
		Rules struct {
			Custom []struct {
				SeriesQuery  string
				MetricsQuery string
				Name         struct{ Matches, As string }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &values))
	out := map[string]string{}
	for _, rule := range values.Rules.Custom {
		series, _, _ := strings.Cut(rule.SeriesQuery, "{")
		require.True(t, regexp.MustCompile(rule.Name.Matches).MatchString(series))
		require.Contains(t, rule.MetricsQuery, "<<.Series>>{<<.LabelMatchers>>}")
		require.Contains(t, rule.MetricsQuery, "<<.GroupBy>>")
		name := rule.Name.As
		if name == "" {
			name = series
		}
		out[name] = series
	}
	return out
}

// Deployments grow by metrics that their own pods export, and that the adapter is set up for.
func TestPodsAreScaledByTheirOwnMetrics(t *testing.T) {
	t.Parallel()
	m, series, known := of(t, "large"), exported(t), adapted(t)
	for component, want := range map[string]string{
		"api": "slipway_requests_per_second", "worker": "temporal_worker_task_slots_used", "images": "slipway_image_bodies",
	} {
		h := read[autoscalingv2.HorizontalPodAutoscaler](t, m, "HorizontalPodAutoscaler", "assisted-"+component)
		require.Equal(t, "assisted-"+component, h.Spec.ScaleTargetRef.Name)
		require.Len(t, h.Spec.Metrics, 1)
		require.Equal(t, want, h.Spec.Metrics[0].Pods.Metric.Name)
		require.Contains(t, series, known[want])
		for _, object := range m {
			if object.GetKind() == "Deployment" && object.GetName() == "assisted-"+component {
				require.NotContains(t, object.Object["spec"], "replicas", "the autoscaler's")
			}
		}
	}
}

// Monitors find the Services of their component.
func TestMonitorsFindTheirServices(t *testing.T) {
	t.Parallel()
	m := of(t, "large")
	for component, scheme := range map[string]string{"api": "https", "worker": "http", "images": "https"} {
		service := read[corev1.Service](t, m, "Service", "assisted-"+component)
		for _, object := range m {
			if object.GetKind() != "ServiceMonitor" || object.GetName() != "assisted-"+component {
				continue
			}
			spec := object.Object["spec"].(map[string]any)
			for label, value := range spec["selector"].(map[string]any)["matchLabels"].(map[string]any) {
				require.Equal(t, value, service.Labels[label])
			}
			endpoint := spec["endpoints"].([]any)[0].(map[string]any)
			require.Equal(t, scheme, endpoint["scheme"])
			require.Equal(t, service.Spec.Ports[0].Name, endpoint["port"])
		}
	}
}
