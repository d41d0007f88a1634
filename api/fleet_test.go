package api_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/service/discovery"
	"slipway/internal/testing/await"
	"slipway/internal/testing/unraced"
	"slipway/internal/wire"
)

// busyDiscovery registers hosts as the service does, and answers the rest at once: the limits on requests are the same.
type busyDiscovery struct{ api.Discovery }

func (busyDiscovery) Reply(context.Context, uuid.UUID, uuid.UUID, wire.StepReply) error { return nil }

// virtual is a clock that only the test moves.
type virtual struct{ nanoseconds atomic.Int64 }

func (v *virtual) now() time.Time             { return time.Unix(0, v.nanoseconds.Load()) }
func (v *virtual) advance(step time.Duration) { v.nanoseconds.Add(int64(step)) }

// Each part of a minute after a power cut is asked for by all hosts at one moment of the clock: at no real site are they as close.
func TestThousandHostsBehindOneAddressMeetNoLimit(t *testing.T) {
	t.Parallel()
	unraced.Test(t)
	const hosts, repliesOfAStart, pollsOfAMinute = 1000, 12, 2
	l := newPerHost(t)
	clock := &virtual{}
	clock.nanoseconds.Store(time.Now().UnixNano())
	var options api.Options
	l.service = newService(t, func(o *api.Options) { o.Now = clock.now; options = *o })
	l.tokens.TokenKey = l.store.TokenKey
	options.Identity, options.Discovery = l.tokens, busyDiscovery{options.Discovery}
	l.closed = &service{
		t: t, url: serve(t, options), store: l.store, blob: l.blob, logged: l.logged, orchestrator: l.orchestrator, tags: l.tags,
	}
	e := l.infraEnv(uuid.Nil)
	link, err := l.tokens.ImageLink(must(l.store.InfraEnv(t.Context(), e.ID)), time.Time{})
	require.NoError(t, err)
	imageToken, path := l.imageToken(e.ID), "/v2/infra-envs/"+e.ID.String()
	ids, tokens := make([]uuid.UUID, hosts), make([]string, hosts)
	for i := range ids {
		ids[i] = uuid.New()
	}

	refused := &refusedAnswers{}
	each := func(do func(host int) reply) {
		var running sync.WaitGroup
		for worker := range 8 {
			running.Go(func() {
				for host := worker; host < hosts; host += 8 {
					refused.count(do(host))
				}
			})
		}
		running.Wait()
	}
	get := func(path string, headers ...string) reply {
		return l.closed.send(http.MethodGet, path, nil, headers...)
	}
	first := get(path + "/downloads/files?file_name=discovery.ign&api_key=" + link.Value)
	require.Equal(t, http.StatusOK, first.Status, "%s", first.Body)
	each(func(int) reply { // what the image service asks for, for each host that boots over the network
		refused.count(get(path + "/downloads/minimal-initrd?api_key=" + link.Value))
		refused.count(get(path + "?api_key=" + link.Value))
		return get(path+"/downloads/files?file_name=discovery.ign&api_key="+link.Value, "If-None-Match", first.Header.Get("ETag"))
	})
	each(func(host int) reply {
		r := l.closed.send(http.MethodPost, path+"/hosts", map[string]any{"host_id": ids[host]}, "X-Secret-Key", imageToken)
		tokens[host] = r.Header.Get(wire.HeaderToken)
		return r
	})
	poll := func(host int) reply {
		return get(hostPath(e.ID, ids[host])+"/instructions", "X-Secret-Key", tokens[host])
	}
	each(poll)
	each(func(host int) (last reply) {
		for n := range repliesOfAStart {
			answer := wire.StepReply{StepType: "ntp-synchronizer", StepID: fmt.Sprintf("ntp-synchronizer-%d", n), Output: "{}"}
			last = l.closed.send(http.MethodPost, hostPath(e.ID, ids[host])+"/instructions", answer, "X-Secret-Key", tokens[host])
			refused.count(last)
		}
		return last
	})
	for range pollsOfAMinute {
		clock.advance(time.Minute / pollsOfAMinute)
		each(poll)
	}
	require.Empty(t, refused.texts)
}

// refusedAnswers keeps the answers that refuse.
type refusedAnswers struct {
	mu    sync.Mutex
	texts []string
}

func (r *refusedAnswers) count(answer reply) {
	if answer.Status < http.StatusBadRequest {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.texts = append(r.texts, fmt.Sprintf("%d %s", answer.Status, answer.Body)); len(r.texts) > 3 {
		r.texts = r.texts[:3]
	}
}

// A host holds one poll, and some more when its connections break without a sign.
func TestPollsOfOneHostThatAreHeldAreBounded(t *testing.T) {
	t.Parallel()
	holding := &holdingDiscovery{held: make(chan struct{}), end: make(chan struct{})}
	s := newService(t, func(o *api.Options) { o.Discovery = holding })
	var running sync.WaitGroup
	defer running.Wait()
	defer close(holding.end)
	host := uuid.New()
	poll := func(infraEnvID uuid.UUID) reply {
		return s.send(http.MethodGet, hostPath(infraEnvID, host)+"/instructions", nil, wire.HeaderPrefer, "wait=60")
	}
	env := uuid.New()
	for range 10 {
		running.Go(func() { poll(env) })
		await.Receive(t, holding.held)
	}
	r := poll(env)
	require.Equal(t, "more than 10 polls of one host are held", r.Reason(http.StatusTooManyRequests))
	require.Equal(t, "5", r.Header.Get("Retry-After"))
	running.Go(func() { poll(uuid.New()) })
	await.Receive(t, holding.held) // the same id in another InfraEnv is another host
}

// holdingDiscovery holds polls until the test ends.
type holdingDiscovery struct {
	api.Discovery
	held, end chan struct{}
}

func (d *holdingDiscovery) NextSteps(ctx context.Context, _ discovery.PollInput) (wire.Steps, error) {
	d.held <- struct{}{}
	select {
	case <-d.end:
	case <-ctx.Done():
	}
	return wire.Steps{PostStepAction: wire.Continue}, nil
}
