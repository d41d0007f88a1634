package netns_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

// TestFaults breaks the network of real agents, one way after another.
func TestFaults(t *testing.T) {
	needs(t)
	if *hostCount == 0 {
		t.Skip("SKIP: the whole bench is run by make bench-netns")
	}
	env := []string{}
	if !*long {
		env = append(env, "HOST_MAX_DISCONNECTION_TIME=30s")
	}
	few := *hostCount <= neighbours(t)
	if few {
		require.GreaterOrEqual(t, *hostCount, controlPlane+len(links), "every fault needs a worker of its own")
		requireFaults(t)
	} else {
		env = append(env, "DISABLED_STEPS="+string(wire.StepTypeConnectivityCheck))
	}
	b := newBench(t, *hostCount, jumbo, env...)
	if few {
		b.settle(t)
	}
	b.footprint(t, time.Minute)
	if !few {
		t.Logf(
			"SKIP: no faults and no connectivity checks with more than %d hosts: all namespaces share the kernel's one table of neighbours",
			neighbours(t),
		)
		return
	}
	if !*long {
		b.hurry(t)
	}
	b.try(t, links)
	b.try(t, places)
	for _, f := range settings {
		b.try(t, []fault{f}) // one at a time: each is about the cluster
	}
	b.joining(t).try(t, joins)
	yes := true
	require.NoError(t, b.update(t.Context(), wire.V2ClusterUpdateParams{
		UserManagedNetworking: &yes, APIVips: &[]wire.APIVip{}, IngressVips: &[]wire.IngressVip{},
	}))
	b.try(t, names)
}

// requireFaults fails a test that was asked for faults there are not.
func requireFaults(t *testing.T) {
	t.Helper()
	wanted, err := regexp.Compile(*only)
	require.NoError(t, err, "require a regular expression of faults")
	var all []string
	for _, f := range slices.Concat(links, places, settings, joins, names) {
		all = append(all, f.name)
	}
	require.True(
		t,
		slices.ContainsFunc(all, wanted.MatchString),
		"require a fault that matches %q, found %s",
		*only,
		strings.Join(all, "; "),
	)
}

// neighbours returns how many hosts can know each other: the kernel keeps the neighbours of all namespaces in
// one table, whose size is a setting of the machine and left alone.
func neighbours(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/net/ipv4/neigh/default/gc_thresh3")
	require.NoError(t, err)
	size, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	require.NoError(t, err)
	return int(math.Sqrt(size)) - 1
}

// TestSmoke runs a small bench in every run of the tests: a host that is cut off, and one whose names are answered wrong.
func TestSmoke(t *testing.T) {
	needs(t)
	if *hostCount != 0 {
		t.Skip("SKIP: the whole bench runs")
	}
	b := newBench(t, controlPlane, ethernet, "HOST_MAX_DISCONNECTION_TIME=6s")
	b.settle(t)
	b.hurry(t)
	b.try(t, []fault{away, {
		name: wildcard.name, fails: wildcard.fails, inject: asked(wildcard.inject),
	}})
}

// settle gives the cluster what it needs besides hosts, and waits until it is ready.
func (b *bench) settle(t *testing.T) {
	t.Helper()
	require.NoError(t, b.setRoles(t.Context()))
	require.NoError(t, b.update(t.Context(), wire.V2ClusterUpdateParams{
		APIVips: &[]wire.APIVip{{IP: apiVIP}}, IngressVips: &[]wire.IngressVip{{IP: ingressVIP}},
	}))
	begun := time.Now()
	b.await(t, 10*time.Minute, "a cluster that is ready", func(c *wire.Cluster) bool { return c.Status == wire.ClusterStatusReady })
	t.Logf("the cluster is ready %s after its virtual addresses were set", time.Since(begun).Round(100*time.Millisecond))
}

// hurry makes the service ask its hosts every two minutes instead of every ten or thirty:
// it does as long as they lack something, here the TPM that the disks are to be locked with.
func (b *bench) hurry(t *testing.T) {
	t.Helper()
	require.NoError(t, b.update(t.Context(), wire.V2ClusterUpdateParams{
		DiskEncryption: &wire.DiskEncryption{EnableOn: wire.DiskEncryptionEnableOnAll, Mode: wire.Tpmv2},
	}))
}

// resolvConfRead is after how long a program of Go notices a new resolv.conf.
const resolvConfRead = 6 * time.Second

// asked makes the service ask its hosts right after a fault and after its end, as it does
// whenever the user changes what the answers depend on.
func asked(inject injector) injector {
	ask := func(ctx context.Context, b *bench, source string) error {
		pause(ctx, resolvConfRead)
		return b.update(ctx, wire.V2ClusterUpdateParams{AdditionalNtpSource: &source})
	}
	return func(ctx context.Context, b *bench, h *host) (func() error, error) {
		repair, err := inject(ctx, b, h)
		return func() error { return errors.Join(repair(), ask(ctx, b, gateway)) }, errors.Join(err, ask(ctx, b, secondClock))
	}
}

// try injects faults side by side, each on a host of its own, and repairs each when it was seen.
func (b *bench) try(t *testing.T, faults []fault) {
	t.Helper()
	wanted := regexp.MustCompile(*only)
	var wg sync.WaitGroup
	var wrong atomic.Bool
	for n, f := range faults {
		if !wanted.MatchString(f.name) {
			continue
		}
		victim := b.hosts[len(b.hosts)-1-n]
		wg.Go(func() {
			if err := b.one(t, f, victim); err != nil {
				wrong.Store(true)
				t.Errorf("%s on %s: %v", f.name, victim.name, err)
			}
		})
	}
	wg.Wait()
	if wrong.Load() {
		t.Log(describe(b.look()))
	}
}

// one injects a fault, and prints a line for each validation that failed of it.
func (b *bench) one(t *testing.T, f fault, victim *host) error {
	limit := 6 * time.Minute
	if *long {
		limit = 45 * time.Minute // an inventory is asked for every 30 minutes
	}
	if _, err := b.see(t.Context(), f, victim, passed, limit); err != nil {
		return fmt.Errorf("before the fault: %w", err)
	}
	begun := time.Now()
	repair, err := f.inject(t.Context(), b, victim)
	if err != nil {
		return fmt.Errorf("inject: %w", err)
	}
	repair = sync.OnceValue(repair)
	defer func() { _ = repair() }()
	failedAt, err := b.see(t.Context(), f, victim, failed, limit)
	if err != nil {
		return err
	}
	if *long && f.lasts > 0 {
		pause(t.Context(), time.Until(begun.Add(f.lasts)))
	}
	repaired := time.Now()
	if err := repair(); err != nil {
		return fmt.Errorf("repair: %w", err)
	}
	passedAt, err := b.see(t.Context(), f, victim, passed, limit)
	if err != nil {
		return fmt.Errorf("after the end of the fault: %w", err)
	}
	for n, of := range f.fails {
		where := victim.name
		if of.ofCluster {
			where = "the cluster"
		}
		t.Logf("fault: %s on %s, %s, failed after %s, recovered after %s", f.name, where, of.id,
			failedAt[n].Sub(begun).Round(time.Second), passedAt[n].Sub(repaired).Round(time.Second))
	}
	return nil
}

// see waits until all validations of a fault have a status, and returns when each had it.
func (b *bench) see(ctx context.Context, f fault, victim *host, status string, limit time.Duration) ([]time.Time, error) {
	seen := make([]time.Time, len(f.fails))
	for deadline := time.Now().Add(limit); ; pause(ctx, 200*time.Millisecond) {
		var waiting []string
		for n, of := range f.fails {
			about := victim
			if of.ofCluster {
				about = nil
			}
			v := b.verdict(about, of.id)
			if of.unjudged && v.Status == missing {
				v.Status = passed
			}
			right := v.Status == status && (status != failed || strings.Contains(v.Message, of.because))
			if right && seen[n].IsZero() {
				seen[n] = time.Now()
			}
			if seen[n].IsZero() {
				waiting = append(waiting, v.String())
			}
		}
		if len(waiting) == 0 {
			return seen, nil
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return nil, fmt.Errorf("require status %s within %s, found %s", status, limit, strings.Join(waiting, "; "))
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
