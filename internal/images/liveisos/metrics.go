package liveisos

import "github.com/prometheus/client_golang/prometheus"

// collector reports the images of a store when it is collected.
type collector struct {
	store                       *Store
	bytes, size, ready, failure *prometheus.Desc
}

// Collector returns metrics of the images, to be registered by the caller.
func (s *Store) Collector() prometheus.Collector {
	labels := []string{"version", "architecture", "type"}
	desc := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, labels, nil) }
	return &collector{
		store:   s,
		bytes:   desc("slipway_os_image_bytes", "Bytes of an operating system image that are on disk"),
		size:    desc("slipway_os_image_size_bytes", "Bytes that an operating system image has; 0: not known yet"),
		ready:   desc("slipway_os_image_ready", "1 when discovery images can be made of an operating system image"),
		failure: desc("slipway_os_image_download_failures_total", "Tries to get an operating system image that failed, by this process"),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.bytes, c.size, c.ready, c.failure} {
		out <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	for _, image := range c.store.Status() {
		send := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64) {
			out <- prometheus.MustNewConstMetric(desc, kind, value, image.OpenShiftVersion, image.CPUArchitecture, image.Type)
		}
		ready := 0.0
		if image.State == StateReady {
			ready = 1
		}
		send(c.bytes, prometheus.GaugeValue, float64(image.Done))
		send(c.size, prometheus.GaugeValue, float64(image.Size))
		send(c.ready, prometheus.GaugeValue, ready)
		send(c.failure, prometheus.CounterValue, float64(image.Failures))
	}
}
