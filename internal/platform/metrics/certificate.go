package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const certificateEnd = ours + "certificate_end_seconds"

// certificateTable has the metric of a listener with TLS.
var certificateTable = []row{{
	name: certificateEnd, kind: gauge,
	help: "When the certificate of the listener ends, in seconds since 1970; there is none without TLS",
}}

// Certificate reports the end of a certificate on request: it may be replaced while the process runs.
type Certificate struct {
	end  func() (time.Time, error)
	desc *prometheus.Desc
}

// NewCertificate makes a collector to register.
func NewCertificate(end func() (time.Time, error)) *Certificate {
	return &Certificate{end: end, desc: prometheus.NewDesc(certificateEnd, certificateTable[0].help, nil, nil)}
}

// Describe implements prometheus.Collector.
func (c *Certificate) Describe(out chan<- *prometheus.Desc) { out <- c.desc }

// Collect implements prometheus.Collector. A certificate that cannot be read has no value.
func (c *Certificate) Collect(out chan<- prometheus.Metric) {
	if end, err := c.end(); err == nil {
		out <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(end.Unix()))
	}
}
