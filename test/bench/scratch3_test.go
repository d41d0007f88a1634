package bench_test

import ("testing";"time";"os";"net/http";"io")

func BenchmarkScratch3(b *testing.B) {
	os.Setenv("PPROF", "127.0.0.1:6161")
	s := newService(b)
	var machines []*machine
	for range fleetClusters {
		c := s.newCluster()
		c.discover(hostsPerCluster)
		machines = append(machines, c.machines...)
	}
	get := func(what, to string) {
		r, err := http.Get("http://127.0.0.1:6161/debug/pprof/"+what)
		if err != nil { b.Fatal(err) }
		d, _ := io.ReadAll(r.Body)
		os.WriteFile("/tmp/bench/"+to, d, 0o644)
	}
	alone := s.measure(1, func() { get("profile?seconds=20", "alone.pb") })
	b.Log("alone", alone.used, alone.share())
	a := s.hold(machines)
	for range 2 {
	held := s.measure(1, func() { get("profile?seconds=60", "held.pb") })
	b.Log("held", held.used, held.share())
	}
	rows, _ := s.tables.Query(b.Context(), `select relname, seq_scan, seq_tup_read, idx_scan, n_tup_upd, n_tup_hot_upd, n_dead_tup from pg_stat_user_tables where schemaname='slipway' and (seq_scan>100 or idx_scan > 100)`)
	for rows.Next() { v, _ := rows.Values(); b.Log(v...) }
	a.end()
	for b.Loop() {}
}
