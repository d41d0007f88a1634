package metrics

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
)

// seriesLimit is the most label sets of one metric of the SDK. Names of workflows are chosen by whoever starts one;
// those above the limit share one series with the label otel_metric_overflow.
const seriesLimit = 200

// NewTemporal registers the metrics of Temporal's SDK and returns what a client records them with, for
// client.Options.MetricsHandler; its workers record with it as well.
func NewTemporal(r prometheus.Registerer, log *slog.Logger) (client.MetricsHandler, error) {
	reader, err := exporter.New(exporter.WithRegisterer(r), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("export metrics of Temporal's SDK: %w", err)
	}
	provider := metric.NewMeterProvider(
		metric.WithReader(reader),
		metric.WithView(temporalView()),
		metric.WithCardinalityLimit(seriesLimit),
		metric.WithResource(resource.Empty()),
	)
	return opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter:                provider.Meter("temporal-sdk-go"),
		OnError:              func(err error) { log.Warn("metric of Temporal's SDK is not recorded", "error", err) },
		UseMonotonicCounters: true,
	}), nil
}

// temporalView keeps the metrics of temporalTable with their labels, and drops all others.
func temporalView() metric.View {
	shown := map[string]row{}
	for _, t := range temporalTable {
		shown[t.instrument()] = t
	}
	return func(i metric.Instrument) (metric.Stream, bool) {
		t, found := shown[i.Name]
		if !found {
			return metric.Stream{Name: i.Name, Aggregation: metric.AggregationDrop{}}, true
		}
		var keys []attribute.Key
		for _, label := range t.labels {
			keys = append(keys, attribute.Key(label))
		}
		stream := metric.Stream{Name: i.Name, Description: t.help, Unit: i.Unit, AttributeFilter: attribute.NewAllowKeysFilter(keys...)}
		if t.kind == histogram {
			stream.Aggregation = metric.AggregationExplicitBucketHistogram{Boundaries: t.buckets}
		}
		return stream, true
	}
}

// instrument returns the name in the SDK: without the ending that the exporter adds by kind and unit.
func (t row) instrument() string {
	switch t.kind {
	case counter:
		return strings.TrimSuffix(t.name, "_total")
	case histogram:
		return strings.TrimSuffix(t.name, "_seconds")
	case gauge:
	}
	return t.name
}
