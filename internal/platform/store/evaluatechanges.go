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
		if change.changed, err = columnsOfHost(old, change.Host); err != nil {
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
	return differing(clusterTable, clusterRecord, before, &level)
}

// columnsOfHost lists the columns in which two versions of a host differ.
func columnsOfHost(before, after *model.Host) ([]string, error) {
	level := *after
	hostTable.level(&hostRow{Host: before}, &hostRow{Host: &level})
	return differing(hostTable, hostRecord, before, &level)
}

// differing compares two versions of a noun in memory, where most share what they hold, and then as they are stored: other
// values in memory may be the same there.
func differing[N any](t *table, encode func(*N) (record, error), before, after *N) ([]string, error) {
	if reflect.DeepEqual(before, after) {
		return nil, nil
	}
	was, err := encode(before)
	if err != nil {
		return nil, err
	}
	is, err := encode(after)
	return t.changed(was, is), err
}
