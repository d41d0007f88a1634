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
	// In memory most versions share what they hold; other values there may be the same as they are stored.
	if reflect.DeepEqual(before, &level) {
		return nil, nil
	}
	was, err := clusterRecord(before)
	if err != nil {
		return nil, err
	}
	is, err := clusterRecord(&level)
	return clusterTable.changed(was, is), err
}

// rowOfChange returns the row of a host, and the columns in which it differs from an earlier version, as columnsOfCluster does.
func rowOfChange(before, after *model.Host) (row *hostRow, changed []string, err error) {
	level := *after
	hostTable.level(&hostRow{Host: before}, &hostRow{Host: &level})
	if reflect.DeepEqual(before, &level) {
		return nil, nil, nil
	}
	was, err := hostRecord(before)
	if err != nil {
		return nil, nil, err
	}
	if row, err = rowOfHost(&level); err != nil {
		return nil, nil, err
	}
	changed = hostTable.changed(was, hostTable.record(row))
	row.Host = after
	return row, changed, nil
}
