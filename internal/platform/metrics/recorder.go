package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"slipway/internal/model"
)

// Recorder counts. It is safe for concurrent use.
type Recorder struct {
	counters   map[string]*prometheus.CounterVec
	histograms map[string]*prometheus.HistogramVec
}

// New registers the metrics that are counted; State adds the metrics that are looked up.
func New(r prometheus.Registerer) *Recorder {
	m := &Recorder{counters: map[string]*prometheus.CounterVec{}, histograms: map[string]*prometheus.HistogramVec{}}
	for _, t := range table {
		switch t.kind {
		case counter:
			m.counters[t.name] = prometheus.NewCounterVec(prometheus.CounterOpts{Name: t.name, Help: t.help}, t.labels)
			r.MustRegister(m.counters[t.name])
			if len(t.labels) == 0 {
				m.counters[t.name].WithLabelValues() // present from the beginning
			}
		case histogram:
			m.histograms[t.name] = prometheus.NewHistogramVec(
				prometheus.HistogramOpts{Name: t.name, Help: t.help, Buckets: t.buckets},
				t.labels,
			)
			r.MustRegister(m.histograms[t.name])
		case gauge:
		}
	}
	return m
}

func (m *Recorder) count(name string, labels ...string) { m.add(name, 1, labels...) }

func (m *Recorder) add(name string, n int, labels ...string) {
	m.counters[name].WithLabelValues(labels...).Add(float64(n))
}

func (m *Recorder) observe(name string, value float64, labels ...string) {
	m.histograms[name].WithLabelValues(labels...).Observe(value)
}

// Events counts events; store.Options.Observe is this.
func (m *Recorder) Events(list []model.Event) {
	for i := range list {
		if count, ok := counts[list[i].Name]; ok {
			count(m, &list[i])
		}
	}
}

// Request counts a reply of the API; held means that the client asked to wait.
func (m *Recorder) Request(operation, code string, took time.Duration, held bool) {
	m.count(requests, operation, code)
	if !held {
		m.observe(operationDuration, float64(took)/float64(time.Millisecond), operation)
	}
}

// Polled counts a poll of a host that returned that many steps.
func (m *Recorder) Polled(steps int) {
	if steps == 0 {
		m.count(polls, "empty")
		return
	}
	m.count(polls, "steps")
}

// Evaluated counts an evaluation.
func (m *Recorder) Evaluated(took time.Duration) { m.observe(evaluationSeconds, took.Seconds()) }
