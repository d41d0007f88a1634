package steps_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/bench/netlab"
)

const secondClock = "10.67.0.2"

// sources maps the names of the time sources to their states.
func (h *host) sources(t *testing.T, given string) map[string]wire.SourceState {
	t.Helper()
	found := answer[wire.NtpSynchronizationResponse](
		t,
		h,
		wire.StepTypeNtpSynchronizer,
		argument(t, wire.NtpSynchronizationRequest{NtpSource: given}),
	)
	states := map[string]wire.SourceState{}
	for _, source := range found.NtpSources {
		states[source.SourceName] = source.SourceState
	}
	return states
}

func TestClockIsGivenSourcesAndFollowsThem(t *testing.T) {
	t.Parallel()
	h := newHost(t, "ntp", "chronyd", "chronyc", "setpriv", "dnsmasq")
	require.NoError(t, h.lan.IP("addr", "add", secondClock+"/24", "dev", "br0"))
	first := netlab.NewClock(t, h.lan.Space, gateway)
	netlab.NewClock(t, h.lan.Space, secondClock)
	h.lan.dnsmasq(t, gateway, "--host-record=clock.bench.example,"+secondClock)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "chrony.conf"), []byte("server "+gateway+" iburst minpoll 0 maxpoll 0\n"+
		"bindcmdaddress /run/chrony/chronyd.sock\ncmdport 0\npidfile /run/chrony/chronyd.pid\nuser root\n"), 0o644))
	h.start(t)
	await.True(t, func() bool { return h.sources(t, "")[gateway] == wire.SourceStateSynced })

	// A name, twice, and an unknown one: the first is taken, once.
	states := h.sources(t, "clock.bench.example,clock.bench.example, unknown.bench.example")
	require.Len(t, states, 2)
	require.Contains(t, states, "clock.bench.example", "addresses are reported by name")
	require.Len(t, h.sources(t, "clock.bench.example,"+secondClock), 2, "known by its name and by its address")
	await.True(t, func() bool {
		state := h.sources(t, "")["clock.bench.example"]
		return state != "" && state != wire.SourceStateUnreachable
	}, "it answers; when it counts is up to the clock")

	// Clocks that disagree: it is unknown which one is right.
	first.Tell(netip.MustParseAddr(hostAddress), time.Hour)
	await.True(t, func() bool {
		state := h.sources(t, "")[gateway]
		return state == wire.SourceStateError || state == wire.SourceStateVariable || state == wire.SourceStateUnreachable
	})
}

func TestClockThatIsNotThereFailsTheStep(t *testing.T) {
	t.Parallel()
	h := newHost(t, "noclock", "chronyc")
	h.start(t)
	reply := h.ask(t, wire.StepTypeNtpSynchronizer, `{"ntp_source":"`+gateway+`"}`)
	require.Equal(t, 1, reply.ExitCode)
	require.Contains(t, reply.Error, "506 Cannot talk to daemon")
}
