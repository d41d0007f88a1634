package store

import (
	"reflect"

	"slipway/internal/model"
)

// onlyChanges leaves out of a decision the rows that it leaves as they were read, and hosts that were not read.
func (p *snapshot) onlyChanges(d Decision) (Decision, error) {
	var out Decision
	if d.Cluster != nil {
		changed, err := columnsOfCluster(p.cluster, d.Cluster)
		if err != nil {
			return out, err
		}
		if len(changed) > 0 {
			out.Cluster = d.Cluster
		}
	}
	for _, change := range d.Hosts {
		old, ok := p.host(change.Host)
		if !ok {
			continue
		}
		var err error
		if change.row, change.changed, err = rowOfChange(old, change.Host); err != nil {
			return out, err
		}
		if len(change.changed) > 0 {
			out.Hosts = append(out.Hosts, change)
		}
	}
	return out, nil
}

// columnsOfCluster lists the columns in which two versions of a cluster differ.
func columnsOfCluster(before, after *model.Cluster) ([]string, error) {
	level := *after
	clusterTable.level(&clusterRow{Cluster: before}, &clusterRow{Cluster: &level})
	_, changed, err := differing(clusterTable, rowOfCluster, before, &level)
	return changed, err
}

// rowOfChange returns the row of a host, and the columns in which it differs from an earlier version; no row when it does not.
func rowOfChange(before, after *model.Host) (*hostRow, []string, error) {
	level := *after
	hostTable.level(&hostRow{Host: before}, &hostRow{Host: &level})
	row, changed, err := differing(hostTable, rowOfHost, before, &level)
	if row != nil {
		row.Host = after
	}
	return row, changed, err
}

// differing compares two versions of a noun in memory, where most share what they hold, and then as they are stored: other
// values in memory may be the same there. It returns the row of the second one when it was encoded.
func differing[N, R any](t *table, encode func(*N) (*R, error), before, after *N) (*R, []string, error) {
	if reflect.DeepEqual(before, after) {
		return nil, nil, nil
	}
	was, err := encode(before)
	if err != nil {
		return nil, nil, err
	}
	is, err := encode(after)
	if err != nil {
		return nil, nil, err
	}
	return is, t.changed(t.record(was), t.record(is)), nil
}
