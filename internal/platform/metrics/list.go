package metrics

import "slices"

// Metric is one metric, for documentation.
type Metric struct {
	Name, Kind, Help string
	Labels           []string
}

// List lists every metric, those of the v2 API first and those of images last.
func List() []Metric {
	rows := slices.Concat(table, imageTable)
	out := make([]Metric, len(rows))
	for i, t := range rows {
		out[i] = Metric{t.name, string(t.kind), t.help, slices.Clone(t.labels)}
	}
	return out
}
