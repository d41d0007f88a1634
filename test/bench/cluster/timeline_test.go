package cluster_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/wire"
)

// entry is a change, as the service showed it.
type entry struct {
	after time.Duration // since the first machine was switched on
	who   string
	what  string
}

// timeline looks at the cluster again and again, and keeps what changed.
type timeline struct {
	began time.Time

	mu      sync.Mutex
	last    *wire.Cluster
	entries []entry
	shown   map[string]string
	changed chan struct{} // closed at the next look
}

func newTimeline() *timeline {
	return &timeline{began: time.Now(), shown: map[string]string{}, changed: make(chan struct{})}
}

// watch runs until ctx ends; the service may be away meanwhile.
func (l *timeline) watch(ctx context.Context, c *client.Client, id uuid.UUID) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for ; ctx.Err() == nil; <-ticker.C {
		if cluster, err := c.Cluster(ctx, id); err == nil {
			l.see(cluster)
		}
	}
}

func (l *timeline) see(cluster *wire.Cluster) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = cluster
	l.note("cluster", string(cluster.Status)+finalizing(cluster))
	for i := range cluster.Hosts {
		h := &cluster.Hosts[i]
		what := string(h.Status)
		if stage := string(h.Progress.CurrentStage); stage != "" {
			what += ": " + stage
		}
		if h.Status == wire.HostStatusError || strings.Contains(string(h.Status), "pending-user-action") {
			what += " (" + view.OneLine(h.StatusInfo) + ")"
		}
		l.note(view.HostName(h), what)
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

func finalizing(c *wire.Cluster) string {
	if c.Status != wire.ClusterStatusFinalizing || c.Progress.FinalizingStage == "" {
		return ""
	}
	return ": " + string(c.Progress.FinalizingStage)
}

// note adds what is new; under the lock.
func (l *timeline) note(who, what string) {
	if l.shown[who] == what {
		return
	}
	l.shown[who] = what
	e := entry{time.Since(l.began), who, what}
	l.entries = append(l.entries, e)
	fmt.Printf("%7.1f s  %-10s %s\n", e.after.Seconds(), e.who, e.what)
}

// say adds a line of the bench itself.
func (l *timeline) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note("bench", fmt.Sprintf(format, args...))
}

// until waits until something holds for the cluster, and fails the test when it takes
// longer than a limit.
func (l *timeline) until(t *testing.T, what string, limit time.Duration, holds func(*wire.Cluster) bool) *wire.Cluster {
	t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		l.mu.Lock()
		last, changed := l.last, l.changed
		l.mu.Unlock()
		if last != nil && holds(last) {
			return last
		}
		if t.Failed() { // in another part of the test
			t.FailNow()
		}
		select {
		case <-changed:
		case <-timer.C:
			t.Fatalf("waited %s for %s, found:\n%s", limit, what, snapshot(last))
		}
	}
}

// snapshot prints a cluster and what is wrong with it.
func snapshot(c *wire.Cluster) string {
	if c == nil {
		return "no answer of the service"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "cluster %s: %s\n", c.Status, view.OneLine(c.StatusInfo))
	for _, v := range view.Failing(c.ValidationsInfo, true) {
		fmt.Fprintf(&out, "  %s: %s\n", v.ID, v.Message)
	}
	for i := range c.Hosts {
		h := &c.Hosts[i]
		fmt.Fprintf(&out, "%s %s, %s: %s\n", view.HostName(h), h.Status, h.Progress.CurrentStage, view.OneLine(h.StatusInfo))
		for _, v := range view.Failing(h.ValidationsInfo, true) {
			fmt.Fprintf(&out, "  %s: %s\n", v.ID, v.Message)
		}
	}
	return out.String()
}

// report prints how long each stage of each host took, with what the machines said of
// themselves.
func (l *timeline) report(machines []*machine) string {
	l.mu.Lock()
	all := slices.Clone(l.entries)
	l.mu.Unlock()
	for _, m := range machines {
		m.mu.Lock()
		for _, mark := range m.seen() {
			all = append(all, entry{mark.After + m.began.Sub(l.began), m.name, "  console: " + mark.Text})
		}
		m.mu.Unlock()
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Or(strings.Compare(a.who, b.who), cmp.Compare(a.after, b.after)) })
	var out strings.Builder
	for i, e := range all {
		if i == 0 || all[i-1].who != e.who {
			fmt.Fprintf(&out, "%s\n", e.who)
		}
		fmt.Fprintf(&out, "  %7.1f s  %s\n", e.after.Seconds(), e.what)
	}
	var total time.Duration
	for _, m := range machines {
		m.mu.Lock()
		fmt.Fprintf(&out, "%s: %.0f s of a processor, image written %d times\n", m.name, m.cpu().Seconds(), count(m.seen(), writing))
		total += m.cpu()
		m.mu.Unlock()
	}
	fmt.Fprintf(&out, "all machines: %.0f s of a processor; wall %.0f s\n", total.Seconds(), time.Since(l.began).Seconds())
	return out.String()
}
