package bench_test

import ("testing";"time";"flag";"os")
var nhosts = flag.Int("hosts", 10, ""); var npeers = flag.Int("peers", 50, "")
func BenchmarkScratch(b *testing.B) {
	reportedPeers = *npeers
	s := newService(b)
	c := s.newCluster()
	begun, u := time.Now(), s.usage()
	lap := func(what string) { s.tb.Helper(); x := s.usage(); b.Log(what, time.Since(begun).Round(time.Millisecond), x.since(u), s.statuses(), s.residentMB()); begun, u = time.Now(), x }
	c.register(c.dial(), *nhosts)
	lap("registered")
	const undiscovered = `select count(*) from hosts where cluster_id = $1 and status = 'discovering'`
	c.answer()
	lap("inventory")
	eventually(c.tb, "hosts discovered", 5*time.Minute, func() bool { return count(c.service, undiscovered, c.id) == 0 })
	lap("discovered")
	for c.answer() > 0 { lap("answer"); time.Sleep(100*time.Millisecond)}
	lap("answered")
	c.settled()
	lap("settled")
	rows, _ := s.tables.Query(b.Context(), `select v->>'id', v->>'status', v->>'message', count(*) from hosts, jsonb_array_elements(doc->'validations') v where v->>'status' <> 'success' group by 1,2,3 order by 4 desc limit 10`)
	for rows.Next() { var a,c,d string; var n int; rows.Scan(&a,&c,&d,&n); b.Log(a,c,d,n) }
	rows, _ = s.tables.Query(b.Context(), `select v->>'id', v->>'status', v->>'message', count(*) from clusters, jsonb_array_elements(doc->'validations') v where v->>'status' <> 'success' group by 1,2,3 order by 4 desc limit 10`)
	for rows.Next() { var a,c,d string; var n int; rows.Scan(&a,&c,&d,&n); b.Log(a,c,d,n) }
	rows, _ = s.tables.Query(b.Context(), `select relname||' '||pg_total_relation_size(oid) from pg_class where relname in ('hosts','clusters','events')`)
	for rows.Next() { var a string; rows.Scan(&a); b.Log(a) }
	for i := range 12 { time.Sleep(10*time.Second); b.Log(i, s.residentMB()) }
	s.stop()
	os.WriteFile("/tmp/bench/gctrace", s.stderr.Bytes(), 0o644)
	for b.Loop() {}
}
