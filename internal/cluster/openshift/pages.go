package openshift

import (
	"slices"
	"strings"
)

// FeatureRow is a row of the table as documentation prints it.
type FeatureRow struct {
	ID, Name, Level string
	Limits          string // where the level is another, and why
	Excludes, Needs []string
}

// FeatureRows lists the table in its order.
func FeatureRows() []FeatureRow {
	out := make([]FeatureRow, 0, len(features))
	for i := range features {
		r := &features[i]
		row := FeatureRow{ID: string(r.id), Name: r.name, Level: string(r.level)}
		if r.operator != "" {
			row.Name += ", operator " + r.operator
		}
		if r.level == "" {
			row.Level = string(LevelSupported)
		}
		var limits []string
		for i := range r.limits {
			limits = append(limits, r.limits[i].text())
		}
		row.Limits = strings.Join(limits, "; ")
		for _, e := range r.excludes {
			for _, id := range e.features {
				row.Excludes = append(row.Excludes, string(id)+e.versions())
			}
		}
		for _, id := range r.needs {
			row.Needs = append(row.Needs, string(id))
		}
		out = append(out, row)
	}
	return out
}

func (e exclusion) versions() string {
	if e.before == "" {
		return ""
	}
	return " before " + e.before
}

func (l *limit) text() string {
	parts := []string{string(l.level)}
	for _, names := range [][]string{l.architectures, l.platforms} {
		if len(names) > 0 {
			parts = append(parts, "on "+strings.Join(names, ", "))
		}
	}
	if l.from != "" {
		parts = append(parts, "from "+l.from)
	}
	if l.before != "" {
		parts = append(parts, "before "+l.before)
	}
	if l.reason != "" {
		parts = append(parts, "("+string(l.reason)+")")
	}
	return strings.Join(parts, " ")
}

// ArchitectureRow is an architecture as documentation prints it.
type ArchitectureRow struct {
	ID, Level string
	Since     string // first version; empty: every one
	Preview   string // versions before it have a preview; empty: none
}

// ArchitectureRows lists the architectures.
func ArchitectureRows() []ArchitectureRow {
	out := make([]ArchitectureRow, len(architectures))
	for i, a := range architectures {
		out[i] = ArchitectureRow{ID: string(a.id), Level: string(a.level), Since: a.since, Preview: a.preview}
	}
	return out
}

// UsageNames lists the names of feature_usage with their ids, by name.
func UsageNames() [][2]string {
	out := make([][2]string, len(usages))
	for i, u := range usages {
		out[i] = [2]string{u.name, usageID(u.name)}
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(strings.ToLower(a[0]), strings.ToLower(b[0])) })
	return out
}
