package metrics

import "slices"

// Metric is one metric, for documentation.
type Metric struct {
	Name, Kind, Help string
	Labels           []string
}

// List lists every metric, those of the v2 API first.
func List() []Metric {
	out := make([]Metric, len(table))
	for i, t := range table {
		out[i] = Metric{t.name, string(t.kind), t.help, slices.Clone(t.labels)}
	}
	return out
}
