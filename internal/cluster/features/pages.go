package features

import (
	"slices"
	"strings"
)

// PageRow is a row of the table as documentation prints it.
type PageRow struct {
	ID, Name, Level string
	Limits          string // where the level is another, and why
	Excludes, Needs []string
}

// Rows lists the table in its order, as documentation prints it.
func (t *Table) Rows() []PageRow {
	out := make([]PageRow, 0, len(t.rows))
	for i := range t.rows {
		r := &t.rows[i]
		row := PageRow{ID: string(r.ID), Name: r.Name, Level: string(r.Level)}
		if r.Operator != "" {
			row.Name += ", operator " + r.Operator
		}
		if r.Level == "" {
			row.Level = string(LevelSupported)
		}
		var limits []string
		for i := range r.Limits {
			limits = append(limits, r.Limits[i].text())
		}
		row.Limits = strings.Join(limits, "; ")
		for _, e := range r.Excludes {
			for _, id := range e.Features {
				row.Excludes = append(row.Excludes, string(id)+e.versions())
			}
		}
		for _, id := range r.Needs {
			row.Needs = append(row.Needs, string(id))
		}
		out = append(out, row)
	}
	return out
}

func (e Exclusion) versions() string {
	if e.Before == "" {
		return ""
	}
	return " before " + e.Before
}

func (l *Limit) text() string {
	parts := []string{string(l.Level)}
	var platforms []string
	for _, id := range l.Platforms {
		platforms = append(platforms, platformNames[id])
	}
	for _, names := range [][]string{l.Architectures, platforms} {
		if len(names) > 0 {
			parts = append(parts, "on "+strings.Join(names, ", "))
		}
	}
	if l.From != "" {
		parts = append(parts, "from "+l.From)
	}
	if l.Before != "" {
		parts = append(parts, "before "+l.Before)
	}
	if l.Reason != "" {
		parts = append(parts, "("+string(l.Reason)+")")
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
