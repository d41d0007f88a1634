package lifecycle

import (
	"slices"

	"slipway/internal/model"
)

// row is one line of a transition table over statuses S, events E and facts F.
type row[S ~string, E ~string, F any] struct {
	no     int // of the v2 API's table (docs/reference/states.md); 0 for ours
	name   string
	event  E
	from   []S // nil: the object is new
	to     S   // "" stays
	when   when[F]
	effect Effect
	info   func(*F) string // nil keeps the status info
	why    string          // of rows that differ from v2's
}

// Row is a line of a transition table for documentation and tests.
type Row struct {
	// No is the number of the row in the v2 API's table, 0 for rows of ours.
	No    int
	Name  string
	Event string
	From  []string // empty: a new object
	To    string   // empty: stays
	When  string   // empty: always
	Why   string   // why the row exists, or differs from v2's
}

func (r *row[S, E, F]) fits(event E, from S, facts *F) bool {
	if r.event != event {
		return false
	}
	if r.from == nil != (from == "") || r.from != nil && !slices.Contains(r.from, from) {
		return false
	}
	return r.when.test == nil || r.when.test(facts)
}

func (r *row[S, E, F]) target(from S) S {
	if r.to == "" {
		return from
	}
	return r.to
}

func (r *row[S, E, F]) public() Row {
	out := Row{No: r.no, Name: r.name, Event: string(r.event), To: string(r.to), When: r.when.text, Why: r.why}
	for _, s := range r.from {
		out.From = append(out.From, string(s))
	}
	return out
}

func (r *row[S, E, F]) statusInfo(facts *F) string {
	if r.info == nil {
		return ""
	}
	return r.info(facts)
}

// HostTransition describes the change of a host's status.
type HostTransition struct {
	Name string // of the row
	From model.HostStatus
	To   model.HostStatus
	// StatusInfo is the new status info; empty keeps the current one.
	StatusInfo string
	Effect     Effect
}

// NextHost returns the transition of a host on an event without carrying it out; from is
// empty for a host that registers for the first time. When no row fits the error is a
// model.ErrConflict that names the state; a RefreshHost of a known state always fits.
func NextHost(event HostEvent, from model.HostStatus, facts HostFacts) (HostTransition, error) {
	for _, table := range [][]hostRow{hostRows, poolRows, lastHostRows} {
		for i := range table {
			r := &table[i]
			if r.fits(event, from, &facts) {
				return HostTransition{Name: r.name, From: from, To: r.target(from), StatusInfo: r.statusInfo(&facts), Effect: r.effect}, nil
			}
		}
	}
	return HostTransition{}, model.Conflictf("%s is not possible for a host in status %s", event, orNew(string(from)))
}

// ClusterTransition describes the change of a cluster's status.
type ClusterTransition struct {
	Name string
	From model.ClusterStatus
	To   model.ClusterStatus
	// StatusInfo is the new status info; empty keeps the current one.
	StatusInfo string
	Effect     Effect
}

// NextCluster returns the transition of a cluster on an event, like NextHost.
func NextCluster(event ClusterEvent, from model.ClusterStatus, facts ClusterFacts) (ClusterTransition, error) {
	for i := range clusterRows {
		r := &clusterRows[i]
		if r.fits(event, from, &facts) {
			return ClusterTransition{Name: r.name, From: from, To: r.target(from), StatusInfo: r.statusInfo(&facts), Effect: r.effect}, nil
		}
	}
	return ClusterTransition{}, model.Conflictf("%s is not possible for a cluster in status %s", event, orNew(string(from)))
}

func orNew(status string) string {
	if status == "" {
		return "new"
	}
	return status
}

// HostTable returns the table of bound hosts: v2's rows in evaluation order, with ours where they are evaluated.
func HostTable() []Row { return publicRows(slices.Concat(hostRows, lastHostRows)) }

// PoolTable returns the table of unbound hosts, in evaluation order too.
func PoolTable() []Row { return publicRows(poolRows) }

// ClusterTable returns the table of clusters.
func ClusterTable() []Row { return publicRows(clusterRows) }

func publicRows[S ~string, E ~string, F any](rows []row[S, E, F]) []Row {
	out := make([]Row, len(rows))
	for i := range rows {
		out[i] = rows[i].public()
	}
	return out
}
