package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Names of the metrics of the image service, in addition to the metrics of OS images in internal/images/liveisos.
const (
	imageRequests  = ours + "image_requests_total"
	imageBytes     = ours + "image_sent_bytes_total"
	imageBodies    = ours + "image_bodies"
	imageFirstByte = ours + "image_first_byte_seconds"
)

const labelArtifact = "artifact"

// imageTable is every metric of the image service, in the order of docs/reference/metrics.md.
var imageTable = []row{
	{
		name:   imageRequests,
		kind:   counter,
		labels: []string{labelArtifact, labelCode},
		help: "Requests for images and boot artifacts, by status code; broken: the body ended before its end. 503 is refused by the " +
			"limit, or not there yet",
	},
	{name: imageBytes, kind: counter, help: "Bytes of images handed to the kernel"},
	{name: imageBodies, kind: gauge, help: "Images that are being sent"},
	{name: imageFirstByte, kind: histogram, buckets: seconds, help: "Seconds from a request for an image to the first byte of its answer"},
}

// Images records what the image service does. It is safe for concurrent use.
type Images struct {
	requests  *prometheus.CounterVec
	bytes     prometheus.Counter
	bodies    prometheus.Gauge
	firstByte prometheus.Histogram
}

// NewImages registers the metrics of the image service.
func NewImages(r prometheus.Registerer) *Images {
	of := map[string]row{}
	for _, t := range imageTable {
		of[t.name] = t
	}
	m := &Images{
		requests: prometheus.NewCounterVec(
			prometheus.CounterOpts{Name: imageRequests, Help: of[imageRequests].help},
			of[imageRequests].labels,
		),
		bytes:  prometheus.NewCounter(prometheus.CounterOpts{Name: imageBytes, Help: of[imageBytes].help}),
		bodies: prometheus.NewGauge(prometheus.GaugeOpts{Name: imageBodies, Help: of[imageBodies].help}),
		firstByte: prometheus.NewHistogram(
			prometheus.HistogramOpts{Name: imageFirstByte, Help: of[imageFirstByte].help, Buckets: of[imageFirstByte].buckets},
		),
	}
	r.MustRegister(m.requests, m.bytes, m.bodies, m.firstByte)
	return m
}

// ImageAnswered counts an answer; code is a status, or "broken".
func (m *Images) ImageAnswered(artifact, code string) {
	m.requests.WithLabelValues(artifact, code).Inc()
}

// ImageSent counts bytes of bodies.
func (m *Images) ImageSent(bytes int64) { m.bytes.Add(float64(bytes)) }

// ImageBegun counts the start of a body; took is the time to its first byte.
func (m *Images) ImageBegun(took time.Duration) {
	m.bodies.Inc()
	m.firstByte.Observe(took.Seconds())
}

// ImageEnded counts the end of a body.
func (m *Images) ImageEnded() { m.bodies.Dec() }
