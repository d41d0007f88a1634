package metrics

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Census is the source of State; *store.Store implements it.
type Census interface {
	// Census counts clusters and hosts by status, and results that wait to be forwarded.
	Census(ctx context.Context) (clusters, hosts map[string]int, reported int, err error)
}

const (
	// lookTime bounds the query of the database; censusAge is the maximum age of its result, so that several
	// scrapers share one query.
	lookTime  = 2 * time.Second
	censusAge = 10 * time.Second
)

// State reports the current state on request: what the database holds and how full the data folder is.
type State struct {
	census Census
	dir    string
	now    func() time.Time
	descs  map[string]*prometheus.Desc

	mu   sync.Mutex
	at   time.Time
	last []prometheus.Metric
}

// NewState makes a collector to register; dir is the data folder.
func NewState(census Census, dir string, now func() time.Time) *State {
	s := &State{census: census, dir: dir, now: now, descs: map[string]*prometheus.Desc{}}
	for _, t := range table {
		if t.kind == gauge {
			s.descs[t.name] = prometheus.NewDesc(t.name, t.help, t.labels, nil)
		}
	}
	return s
}

// Describe implements prometheus.Collector.
func (s *State) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range s.descs {
		out <- desc
	}
}

// Collect implements prometheus.Collector. Values that cannot be determined are left out.
func (s *State) Collect(out chan<- prometheus.Metric) {
	for _, m := range s.counted() {
		out <- m
	}
	if used, err := usage(s.dir); err == nil {
		out <- s.value(filesystemUsage, used)
	}
}

func (s *State) value(name string, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(s.descs[name], prometheus.GaugeValue, v, labels...)
}

func (s *State) counted() []prometheus.Metric {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil && s.now().Sub(s.at) < censusAge {
		return s.last
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	clusters, hosts, reported, err := s.census.Census(ctx)
	if err != nil {
		return nil // the readiness check reports an unreachable database
	}
	var list []prometheus.Metric
	for _, of := range []struct {
		all, byStatus string
		counts        map[string]int
	}{{monitoredClusters, clustersByStatus, clusters}, {monitoredHosts, hostsByStatus, hosts}} {
		total := 0
		for status, n := range of.counts {
			total += n
			list = append(list, s.value(of.byStatus, float64(n), status))
		}
		list = append(list, s.value(of.all, float64(total)))
	}
	s.last, s.at = append(list, s.value(activitiesUnreported, float64(reported))), s.now()
	return s.last
}

// usage returns how much of a file system is used, in percent.
func usage(dir string) (float64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return 0, fmt.Errorf("look at the file system of %s: %w", dir, err)
	}
	if stat.Blocks == 0 {
		return 0, fmt.Errorf("look at the file system of %s: it has no size", dir)
	}
	return 100 * float64(stat.Blocks-stat.Bavail) / float64(stat.Blocks), nil
}
