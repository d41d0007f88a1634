package kube

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hiveext"
	"slipway/api/kube/objects"
)

// patience bounds how long a scrape waits for the cache.
const patience = 5 * time.Second

var (
	resources = prometheus.NewDesc("slipway_kube_resources",
		"Agents and AgentClusterInstalls, by the state of host or cluster in the service. Without one the state is empty.",
		[]string{"kind", "state"}, nil)
	followed = prometheus.NewDesc("slipway_kube_followed_timestamp_seconds",
		"When the service last answered which of its objects changed. Unset until then.", nil, nil)
)

// collector counts resources in the cache when it is asked.
type collector struct {
	cache client.Reader
	index *objects.Index
}

// addMetrics exports the metrics while the manager runs. Several managers of one process, one after another, share the registry.
func addMetrics(m manager.Manager, index *objects.Index) error {
	c := &collector{cache: m.GetCache(), index: index}
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		if err := metrics.Registry.Register(c); err != nil {
			return fmt.Errorf("export metrics: %w", err)
		}
		<-ctx.Done()
		metrics.Registry.Unregister(c)
		return nil
	}))
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	to <- resources
	to <- followed
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	if at := c.index.FollowedAt(); !at.IsZero() {
		to <- prometheus.MustNewConstMetric(followed, prometheus.GaugeValue, float64(at.UnixMilli())/1000)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var agents agentinstall.AgentList
	var installs hiveext.AgentClusterInstallList
	for _, list := range []client.ObjectList{&agents, &installs} {
		if err := c.cache.List(ctx, list); err != nil {
			to <- prometheus.NewInvalidMetric(resources, fmt.Errorf("count resources: %w", err))
			return
		}
	}
	counts := map[[2]string]float64{}
	for n := range agents.Items {
		counts[[2]string{"Agent", agents.Items[n].Status.DebugInfo.State}]++
	}
	for n := range installs.Items {
		counts[[2]string{"AgentClusterInstall", installs.Items[n].Status.DebugInfo.State}]++
	}
	for labels, count := range counts {
		to <- prometheus.MustNewConstMetric(resources, prometheus.GaugeValue, count, labels[:]...)
	}
}
