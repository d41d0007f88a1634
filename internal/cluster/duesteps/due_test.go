package duesteps_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

var now = time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)

func types(steps []duesteps.Step) []string {
	out := make([]string, len(steps))
	for i, s := range steps {
		out[i] = string(s.Type)
	}
	return out
}

// TestFreshHostsAreAskedInOrder checks docs/reference/step-rules.md, "Steps by status" for hosts without any asked steps.
func TestFreshHostsAreAskedInOrder(t *testing.T) {
	t.Parallel()
	const day1, day2 = model.KindHost, model.KindAddToExistingClusterHost
	known := []string{
		"connectivity-check", "tang-connectivity-check", "free-network-addresses", "dhcp-lease-allocate", "inventory",
		"ntp-synchronizer", "domain-resolution", "verify-vips",
	}
	lacking := []string{
		"inventory", "connectivity-check", "tang-connectivity-check", "free-network-addresses", "dhcp-lease-allocate",
		"ntp-synchronizer", "domain-resolution", "verify-vips",
	}
	ended := []string{"logs-gather", "stop-installation"}
	lease := []string{"dhcp-lease-allocate"}
	for _, tt := range []struct {
		kind    model.HostKind
		status  model.HostStatus
		steps   []string
		seconds int
		action  wire.StepsPostStepAction
	}{
		{day1, "discovering", []string{"inventory"}, 60, wire.Continue},
		{day1, "known", known, 60, wire.Continue},
		{day1, "insufficient", lacking, 60, wire.Continue},
		{day1, "pending-for-input", lacking, 60, wire.Continue},
		{day1, "disconnected", []string{"inventory"}, 120, wire.Continue},
		{day1, "preparing-for-installation", lease, 60, wire.Continue},
		{day1, "preparing-successful", nil, 60, wire.Continue},
		{day1, "installing", lease, 60, wire.Continue},
		{day1, "installing-in-progress", lease, 60, wire.Continue},
		{day1, "installing-pending-user-action", nil, 60, wire.Continue},
		{day1, "installed", nil, 60, wire.Continue},
		{day1, "disabled", nil, 120, wire.Continue},
		{day1, "resetting", nil, 120, wire.Continue},
		{day1, "error", ended, 120, wire.Continue},
		{day2, "cancelled", ended, 120, wire.Continue},
		{day1, "binding", nil, 0, wire.Exit},
		{day2, "discovering", []string{"inventory", "ntp-synchronizer", "domain-resolution"}, 60, wire.Continue},
		{
			day2, "known",
			[]string{
				"connectivity-check", "api-vip-connectivity-check", "tang-connectivity-check", "inventory",
				"ntp-synchronizer", "domain-resolution",
			},
			60, wire.Continue,
		},
		{
			day2, "insufficient",
			[]string{
				"inventory", "connectivity-check", "api-vip-connectivity-check", "tang-connectivity-check",
				"ntp-synchronizer", "domain-resolution",
			},
			60, wire.Continue,
		},
		{
			day2, "pending-for-input",
			[]string{"inventory", "connectivity-check", "api-vip-connectivity-check", "tang-connectivity-check"},
			60,
			wire.Continue,
		},
		{day2, "installing", nil, 60, wire.Continue},
		{day1, "discovering-unbound", []string{"inventory", "ntp-synchronizer"}, 60, wire.Continue},
		{day1, "insufficient-unbound", []string{"inventory", "ntp-synchronizer"}, 60, wire.Continue},
		{day1, "known-unbound", []string{"inventory", "ntp-synchronizer"}, 60, wire.Continue},
		{day1, "disconnected-unbound", []string{"inventory"}, 120, wire.Continue},
		{day1, "disabled-unbound", nil, 120, wire.Continue},
		{day1, "unbinding", nil, 0, wire.Exit},
		{day1, "unbinding-pending-user-action", nil, 0, wire.Exit},
		{day1, "reclaiming", nil, 60, wire.Continue},
		{day1, "reclaiming-rebooting", nil, 120, wire.Exit},
	} {
		t.Run(string(tt.kind)+" "+string(tt.status), func(t *testing.T) {
			t.Parallel()
			got := duesteps.Due(duesteps.View{Kind: tt.kind, Status: tt.status, Now: now})
			if tt.steps == nil {
				require.Empty(t, got)
			} else {
				require.Equal(t, tt.steps, types(got))
			}
			seconds, action := duesteps.Interval(tt.kind, tt.status, false)
			require.Equal(t, tt.seconds, seconds)
			require.Equal(t, tt.action, action)
			soon, _ := duesteps.Interval(tt.kind, tt.status, true)
			if tt.seconds == 60 {
				require.Equal(t, 5, soon)
			} else {
				require.Equal(t, tt.seconds, soon, "backing off goes first")
			}
		})
	}
}

// answered makes the facts of a host that was asked everything some time ago.
func answered(asked, replied time.Duration, generation int64) model.Facts {
	facts := model.Facts{}
	for _, t := range []wire.StepType{
		"inventory", "connectivity-check", "tang-connectivity-check", "free-network-addresses", "dhcp-lease-allocate",
		"ntp-synchronizer", "domain-resolution", "verify-vips", "logs-gather", "stop-installation",
	} {
		r := model.FactRecord{AskedAt: now.Add(-asked)}
		if replied >= 0 {
			r.AnsweredAt = now.Add(-replied)
		}
		if t != "inventory" && t != "logs-gather" && t != "stop-installation" {
			r.Generation = generation
		}
		facts[model.Fact(t)] = r
	}
	return facts
}

func TestFactsAreAskedAgain(t *testing.T) {
	t.Parallel()
	const never = -1
	for _, tt := range []struct {
		name           string
		status         model.HostStatus
		asked, replied time.Duration
		change         func(*duesteps.View)
		want           []string
	}{
		{"nothing while all is fresh", "known", 50 * time.Second, 45 * time.Second, nil, nil},
		{"only the lease after a minute", "known", 2 * time.Minute, 2 * time.Minute, nil, []string{"dhcp-lease-allocate"}},
		{
			"what changes after ten minutes", "known", 10 * time.Minute, 10 * time.Minute, nil,
			[]string{"connectivity-check", "tang-connectivity-check", "dhcp-lease-allocate", "ntp-synchronizer", "domain-resolution", "verify-vips"},
		},
		{
			"all but the scan after half an hour", "known", 30 * time.Minute, 30 * time.Minute, nil,
			[]string{
				"connectivity-check", "tang-connectivity-check", "dhcp-lease-allocate", "inventory", "ntp-synchronizer",
				"domain-resolution", "verify-vips",
			},
		},
		{
			"sooner while something is missing", "insufficient", 2 * time.Minute, 2 * time.Minute, nil,
			[]string{
				"inventory", "connectivity-check", "tang-connectivity-check", "dhcp-lease-allocate", "ntp-synchronizer",
				"domain-resolution", "verify-vips",
			},
		},
		{
			"what depends on networks when they changed", "known", 50 * time.Second, 45 * time.Second,
			func(v *duesteps.View) { v.NetworkGeneration++ },
			[]string{
				"tang-connectivity-check", "free-network-addresses", "dhcp-lease-allocate", "ntp-synchronizer",
				"domain-resolution", "verify-vips",
			},
		},
		{
			"connectivity not more than once a minute", "known", 50 * time.Second, 45 * time.Second,
			func(v *duesteps.View) { v.HostsGeneration++ }, nil,
		},
		{
			"connectivity when hosts changed and a minute has passed", "known", time.Minute, 45 * time.Second,
			func(v *duesteps.View) { v.HostsGeneration++ },
			[]string{"connectivity-check", "dhcp-lease-allocate"},
		},
		{
			"connectivity less often in a large cluster", "known", 2 * time.Minute, 2 * time.Minute,
			func(v *duesteps.View) { v.HostsGeneration++; v.Hosts = 450 },
			[]string{"dhcp-lease-allocate"},
		},
		{
			"connectivity of a large cluster in its turn", "known", 3 * time.Minute, 3 * time.Minute,
			func(v *duesteps.View) { v.HostsGeneration++; v.Hosts = 450 },
			[]string{"connectivity-check", "dhcp-lease-allocate"},
		},
		{"nothing yet while answers are awaited", "known", 50 * time.Second, never, nil, nil},
		{
			"everything that was not answered", "known", 2 * time.Minute, never, nil,
			[]string{
				"connectivity-check", "tang-connectivity-check", "free-network-addresses", "dhcp-lease-allocate", "inventory",
				"ntp-synchronizer", "domain-resolution", "verify-vips",
			},
		},
		{
			"what our agent left open, although it answered before", "known", 3 * time.Minute, 20 * time.Minute, nil,
			[]string{
				"connectivity-check", "tang-connectivity-check", "free-network-addresses", "dhcp-lease-allocate", "inventory",
				"ntp-synchronizer", "domain-resolution", "verify-vips",
			},
		},
		{
			"not what a foreign agent left open because nothing changed", "known", 3 * time.Minute, 20 * time.Minute,
			func(v *duesteps.View) { v.AgentSteps = model.InstallStep },
			[]string{"dhcp-lease-allocate"},
		},
		{
			"what a foreign agent left open for more than an hour", "known", 3 * time.Minute, 64 * time.Minute,
			func(v *duesteps.View) { v.AgentSteps = model.InstallStep },
			[]string{
				"connectivity-check", "tang-connectivity-check", "free-network-addresses", "dhcp-lease-allocate", "inventory",
				"ntp-synchronizer", "domain-resolution", "verify-vips",
			},
		},
		{"logs again after ten minutes while they have not come", "error", 10 * time.Minute, 9 * time.Minute, nil, []string{"logs-gather"}},
		{"no logs once they came", "error", 10 * time.Minute, 9 * time.Minute, func(v *duesteps.View) { v.LogsDone = true }, nil},
		{
			"both again when the host failed again", "error", 5 * time.Minute, 5 * time.Minute,
			func(v *duesteps.View) { v.StatusUpdatedAt = now.Add(-time.Minute) },
			[]string{"logs-gather", "stop-installation"},
		},
		{
			"another agent before anything else", "known", 10 * time.Minute, 10 * time.Minute,
			func(v *duesteps.View) { v.UpgradeAgent = true },
			[]string{"upgrade-agent"},
		},
		{
			"no other agent during the installation", "installing", time.Minute, 0,
			func(v *duesteps.View) { v.UpgradeAgent = true },
			[]string{"dhcp-lease-allocate"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := duesteps.View{
				Kind: model.KindHost, Status: tt.status, AgentSteps: model.FineSteps, Now: now, StatusUpdatedAt: now.Add(-time.Hour),
				NetworkGeneration: 7, HostsGeneration: 7, Facts: answered(tt.asked, tt.replied, 7),
			}
			if tt.change != nil {
				tt.change(&v)
			}
			if tt.want == nil {
				require.Empty(t, duesteps.Due(v))
			} else {
				require.Equal(t, tt.want, types(duesteps.Due(v)))
			}
		})
	}
}

// The steps of an installation stand for discovery steps of one kind of agents, which the table has none of.
func TestStepsAreForTheAgentsOfTheirRow(t *testing.T) {
	t.Parallel()
	for step, want := range map[wire.StepType][2]bool{ // by an agent of Slipway, by another
		"inventory": {true, true}, "install": {true, true}, "upgrade-agent": {true, true}, "no-such-step": {true, true},
		"disk-clean": {true, false}, "image-write": {true, false}, "reboot": {true, false},
		"execute": {false, true}, "next-step-runner": {false, true},
	} {
		require.Equal(t, want[0], duesteps.Runs(model.FineSteps, step), step)
		require.Equal(t, want[1], duesteps.Runs(model.InstallStep, step), step)
		require.Equal(t, want[1], duesteps.Runs("", step), "%s, before the agent said what it runs", step)
	}
	v := duesteps.View{Kind: model.KindHost, Status: model.HostKnown, AgentSteps: model.InstallStep, Now: now}
	require.Equal(t, []string{"inventory"}, types(duesteps.DueOf(v, "disk-clean", "inventory")))
}

func TestRecordsOfAQuestion(t *testing.T) {
	t.Parallel()
	v := duesteps.View{
		Kind: model.KindHost, Status: model.HostKnown,
		AgentSteps: model.FineSteps, Now: now, NetworkGeneration: 3, Facts: model.Facts{},
	}
	require.False(t, duesteps.Busy(v))
	for i, s := range duesteps.Due(v) {
		if i%2 == 0 {
			v.Facts[s.Fact] = duesteps.Asked(v.Facts[s.Fact], s, duesteps.StepID(s.Type, 0xabc), now)
		} else {
			v.Facts[s.Fact] = duesteps.Skipped(v.Facts[s.Fact], s, now)
		}
	}
	require.Equal(t, "inventory-00000abc", v.Facts["inventory"].StepID)
	require.Equal(t, int64(3), v.Facts["ntp-synchronizer"].Generation)
	require.Empty(t, duesteps.Due(v), "asked or skipped")
	require.True(t, duesteps.Busy(v), "answers are awaited")
	v.Now = now.Add(25 * time.Second)
	require.False(t, duesteps.Busy(v), "and do not come any moment now")
	for f, r := range v.Facts {
		v.Facts[f] = duesteps.Answered(r, v.Now)
	}
	require.False(t, duesteps.Busy(v))
	require.Empty(t, duesteps.Due(v))
	require.False(t, duesteps.Busy(duesteps.View{Status: model.HostInstalled}))
}

func BenchmarkDueIdle(b *testing.B) {
	v := duesteps.View{
		Kind: model.KindHost, Status: model.HostKnown, AgentSteps: model.FineSteps, Now: now,
		NetworkGeneration: 7, HostsGeneration: 7, Facts: answered(50*time.Second, 45*time.Second, 7),
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(duesteps.Due(v)) > 0 {
			b.Fatal("nothing is due")
		}
	}
}
