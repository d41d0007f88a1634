package agent_test

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/agent"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

// deafNames stands for name servers that never answer. A lookup ends when as many as
// expected have begun: lookups that wait for each other never end.
type deafNames struct {
	mu       sync.Mutex
	missing  int
	all      chan struct{}
	patience time.Duration // of the most patient lookup
}

func newDeafNames(lookups int) *deafNames {
	return &deafNames{missing: lookups, all: make(chan struct{})}
}

func (d *deafNames) wait(ctx context.Context) error {
	deadline, _ := ctx.Deadline()
	d.mu.Lock()
	d.patience = max(d.patience, time.Until(deadline))
	if d.missing--; d.missing == 0 {
		close(d.all)
	}
	d.mu.Unlock()
	select {
	case <-d.all:
		return context.DeadlineExceeded // as after its time
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *deafNames) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	return nil, d.wait(ctx)
}

func (d *deafNames) LookupCNAME(ctx context.Context, _ string) (string, error) {
	return "", d.wait(ctx)
}

func (d *deafNames) LookupAddr(ctx context.Context, _ string) ([]string, error) {
	return nil, d.wait(ctx)
}

func TestDeafNameServersDoNotKeepStepsFromAnswering(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind    wire.StepType
		arg     string
		lookups int
		output  string
	}{
		"names of the cluster": {
			wire.StepTypeDomainResolution, `{"domains":[{"domain_name":"api.c"},{"domain_name":"api-int.c"},{"domain_name":"x.apps.c"}]}`,
			3,
			`{"resolutions":[{"domain_name":"api.c"},{"domain_name":"api-int.c"},{"domain_name":"x.apps.c"}]}`,
		},
		"names of time sources": {
			wire.StepTypeNtpSynchronizer, `{"ntp_source":""}`, 3, `{"ntp_sources":[{"source_name":"192.0.2.1","source_state":"synced"},
				{"source_name":"192.0.2.2","source_state":"combined"},{"source_name":"192.0.2.3","source_state":"combined"}]}`,
		},
		"time sources by name": {
			wire.StepTypeNtpSynchronizer, `{"ntp_source":"a.example.com,b.example.com"}`, 2,
			`{"ntp_sources":[{"source_name":"192.0.2.1","source_state":"synced"},
				{"source_name":"192.0.2.2","source_state":"combined"},{"source_name":"192.0.2.3","source_state":"combined"}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t)
			deaf := newDeafNames(c.lookups)
			h.On("chronyc -n sources", hostexectest.Prints(chronyTable("*", "+", "+")))
			h.On("chronyc add server", hostexectest.Prints("200 OK"))
			h.start(t, s, func(o *agent.Options) { o.Platform.Resolver = deaf })
			s.Give("step-1", c.kind, c.arg)
			reply := s.AwaitReply(t, "step-1")
			require.Zero(t, reply.ExitCode, reply.Error)
			require.JSONEq(t, c.output, reply.Output)
			require.LessOrEqual(t, deaf.patience, time.Minute, "a step has two minutes")
		})
	}
}
