package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	abuseRounds = 3
	abuseWindow = 25 * time.Second
	// hostPeriod is how often each of 1,000 hosts asks for its steps here: often enough for a percentile.
	hostPeriod = 5 * time.Second
)

// BenchmarkAbuse compares how soon 1,000 hosts are answered with and without clients that try wrong tokens, send bodies that do not
// arrive, ask as fast as they can and send JSON of 32 MB. They run in a process of their own, from another address, with the lowest
// priority: what is measured is the service, not who gets the processors.
func BenchmarkAbuse(b *testing.B) {
	s := launch(&service{tb: b, env: []string{"AUTH_TYPE=local"}})
	var machines []*machine
	for range fleetClusters {
		c := s.newCluster()
		c.discover(hostsPerCluster)
		machines = append(machines, c.machines...)
	}
	require.Equal(b, "known 1000", s.statuses())
	asking := s.askAll(machines)
	defer asking.end()
	for b.Loop() {
		var quiet, attacked []float64
		total := map[string]int{}
		peak := 0.0
		for range abuseRounds {
			quiet = append(quiet, asking.during(func() { time.Sleep(abuseWindow) }))
			attacked = append(attacked, asking.during(func() {
				for what, n := range s.abused(&peak) {
					total[what] += n
				}
			}))
		}
		b.Logf("answers to the clients: %v", total)
		require.GreaterOrEqual(b, total["wrong 401"]+total["wrong 429"], 10_000, "requests with wrong tokens")
		for what := range total {
			require.NotContains(b, what, "wrong 2")
			require.NotContains(b, what, "huge 2")
			require.NotContains(b, what, " 5", "the service failed")
		}
		before, beside := middle(quiet, func(v float64) float64 { return v }), middle(attacked, func(v float64) float64 { return v })
		b.ReportMetric(before, "ms-p99-quiet")
		b.ReportMetric(beside, "ms-p99-attacked")
		b.ReportMetric(beside/before, "attacked/quiet")
		b.ReportMetric(peak, "MB-resident-most")
		b.ReportMetric(float64(total["wrong 401"]+total["wrong 429"]), "wrong-tokens")
		require.Less(b, peak, 600.0, "MB resident")
	}
	b.ReportMetric(0, "ns/op")
}

// asking are hosts that ask for their steps again and again; each waits for its answer.
type asking struct {
	*service
	stop  context.CancelFunc
	group sync.WaitGroup
	mu    sync.Mutex
	took  []time.Duration
	err   error
}

func (s *service) askAll(machines []*machine) *asking {
	s.tb.Helper()
	ctx, stop := context.WithCancel(context.Background())
	a := &asking{service: s, stop: stop}
	for n, m := range machines {
		a.group.Go(func() { a.ask(ctx, m, hostPeriod*time.Duration(n)/time.Duration(len(machines))) })
	}
	return a
}

func (a *asking) ask(ctx context.Context, m *machine, after time.Duration) {
	l, err := dial(a.api)
	if err != nil {
		a.note(0, err)
		return
	}
	defer l.close()
	time.Sleep(after)
	ticker := time.NewTicker(hostPeriod)
	defer ticker.Stop()
	for ctx.Err() == nil {
		m.setClock()
		begun := time.Now()
		status, body, err := m.call(l, m.poll, callLimit)
		took := time.Since(begun)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("ask for steps: answered %d %s", status, body)
		}
		if err == nil && !bytes.Contains(body, idleAnswer) {
			_, err = m.answer(l, m.poll, callLimit)
		}
		if a.note(took, err); err != nil {
			return
		}
		<-ticker.C
	}
}

func (a *asking) note(took time.Duration, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.took = append(a.took, took); err != nil && a.err == nil {
		a.err = err
	}
}

// during returns the 99th percentile, in ms, of the answers that came while something was done.
func (a *asking) during(do func()) float64 {
	a.tb.Helper()
	take := func() (took []time.Duration) {
		a.mu.Lock()
		defer a.mu.Unlock()
		took, a.took = a.took, nil
		return took
	}
	take()
	do()
	took := take()
	require.NoError(a.tb, a.err)
	require.Greater(a.tb, len(took), 1000, "answers")
	return milliseconds(percentile(took, 99))
}

func (a *asking) end() {
	a.stop()
	a.group.Wait()
}

// abuseEnv makes the program of these benchmarks a crowd of clients that mean no good: it holds their order, as JSON.
const abuseEnv = "SLIPWAY_BENCH_ABUSE"

type abuseOrder struct {
	Address, Token string
	For            time.Duration
}

// abused lets them loose for a window, and returns how often they were answered with what.
func (s *service) abused(peak *float64) (answers map[string]int) {
	s.tb.Helper()
	order, err := json.Marshal(abuseOrder{strings.TrimPrefix(s.api, "http://"), s.administrator().Reveal(), abuseWindow})
	require.NoError(s.tb, err)
	cmd := exec.CommandContext(s.tb.Context(), "nice", "-n", "19", os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), abuseEnv+"="+string(order)), os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(s.tb, err)
	require.NoError(s.tb, cmd.Start())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = json.NewDecoder(out).Decode(&answers)
	}()
	for open := true; open; {
		select {
		case <-done:
			open = false
		case <-time.After(500 * time.Millisecond):
			*peak = max(*peak, s.residentMB())
		}
	}
	require.NoError(s.tb, cmd.Wait())
	return answers
}

// crowd is shared by the clients.
type crowd struct {
	abuseOrder
	ctx     context.Context //nolint:containedctx // of the whole process
	client  *http.Client
	mu      sync.Mutex
	answers map[string]int
}

func abuse(order string) {
	c := &crowd{answers: map[string]int{}}
	if err := json.Unmarshal([]byte(order), &c.abuseOrder); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.For)
	defer cancel()
	c.ctx = ctx
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}}
	c.client = &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 50}}
	var group sync.WaitGroup
	var wrong atomic.Int64
	for range 8 { // 160 a second each, until the machine has no more for them
		group.Go(func() {
			c.every(6*time.Millisecond, func() {
				c.ask("wrong", http.MethodGet, fmt.Sprintf("not-a-token-%d-%x", wrong.Add(1), rand.Uint64()), nil)
			})
		})
	}
	for range 4 {
		group.Go(func() { c.every(0, func() { c.ask("flood", http.MethodGet, c.Token, nil) }) })
	}
	for range 2 {
		group.Go(func() {
			c.every(100*time.Millisecond, func() {
				c.ask("huge", http.MethodPost, c.Token, io.LimitReader(&nested{}, 32<<20))
			})
		})
	}
	for range 100 {
		group.Go(func() { c.every(0, func() { c.dribble(dialer) }) })
	}
	group.Wait()
	_ = json.NewEncoder(os.Stdout).Encode(c.answers)
}

// nested is JSON without an end, level in level.
type nested struct{}

func (*nested) Read(p []byte) (int, error) {
	return copy(p, `[{"a":"`+strings.Repeat("x", 900)+`","b":`), nil
}

func (c *crowd) every(pause time.Duration, do func()) {
	for c.ctx.Err() == nil {
		do()
		time.Sleep(pause)
	}
}

func (c *crowd) ask(what, method, token string, body io.Reader) {
	request, err := http.NewRequestWithContext(c.ctx, method, "http://"+c.Address+"/api/assisted-install/v2/clusters", body)
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := c.client.Do(request)
	if err != nil {
		c.count(what + " closed")
		return
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	c.count(fmt.Sprintf("%s %d", what, answer.StatusCode))
}

// dribble begins a request whose body comes a byte a second, until the service ends it.
func (c *crowd) dribble(dialer net.Dialer) {
	conn, err := dialer.DialContext(c.ctx, "tcp", c.Address)
	if err != nil {
		c.count("slow not connected")
		time.Sleep(time.Second)
		return
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(c.ctx, func() { _ = conn.Close() })
	defer stop()
	_, _ = fmt.Fprintf(conn, "POST /api/assisted-install/v2/clusters HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n", c.Address, c.Token)
	ended := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err == nil {
			ended <- "slow " + line[9:12]
			return
		}
		ended <- "slow closed"
	}()
	for {
		select {
		case how := <-ended:
			if c.ctx.Err() == nil {
				c.count(how)
			}
			return
		case <-time.After(time.Second):
			_, _ = conn.Write([]byte(" "))
		}
	}
}

func (c *crowd) count(what string) {
	if c.ctx.Err() != nil && strings.HasSuffix(what, "closed") {
		return // it ended because the window did
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[what]++
}
