package activities_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"slipway/activities"
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
	"slipway/internal/service/reports"
	"slipway/internal/testing/unraced"
	"slipway/internal/wire"
)

var seed = flag.Uint64("seed", 0, "of the random installations; 0 takes another one each time")

const (
	randomInstallations = 12
	randomActs          = 60
)

// TestRandomInstallationsFollowTheTables drives whole installations with random commands
// of users, decisions of workflows and reports of hosts against the database, and holds
// every transition that users see in the history to the tables of lifecycle. No status
// changes without one.
func TestRandomInstallationsFollowTheTables(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	start := *seed
	if start == 0 {
		start = uint64(time.Now().UnixNano())
	}
	b := newBench(t)
	d := discovery.New(discovery.Options{
		Store: b.Tables, Evaluation: b.rules, Log: slog.New(slog.DiscardHandler), Now: time.Now, Timeouts: lifecycle.DefaultTimeouts(),
	})
	progress := reports.Hosts{Store: b.Tables, Timeouts: lifecycle.DefaultTimeouts()}
	met := map[string]int{}
	for i := range uint64(randomInstallations) {
		t.Logf("installation of -seed %d", start+i)
		w := &randomInstallation{bench: b, discovery: d, progress: progress, Rand: rand.New(rand.NewPCG(start+i, start+i)), t: t}
		w.cluster = b.NewCluster(t, model.ClusterPreparingForInstallation, model.HostKnown, "", 4)
		w.prepareData()
		for range randomActs {
			act := w.forward()
			if w.IntN(3) == 0 {
				act = w.act()
			}
			err := act.do(t.Context())
			known := errors.Is(err, model.ErrConflict) || errors.Is(err, model.ErrNotFound) || errors.Is(err, model.ErrInvalid) || refused(err)
			require.True(t, err == nil || known, "%s: %v", act.name, err)
			w.hold(act.name, met)
		}
	}
	t.Logf("transitions met: %v", met)
	require.Greater(t, len(met), 15, "the acts reach most of an installation: %v", met)
}

type randomInstallation struct {
	bench
	*rand.Rand
	t         *testing.T
	discovery *discovery.Service
	progress  reports.Hosts
	cluster   *model.Cluster
	seen      int // events
	statuses  map[uuid.UUID]string
}

type act struct {
	name string
	do   func(context.Context) error
}

// prepareData ignores every rule: the test tries the state of an installation.
func (w *randomInstallation) prepareData() {
	_, err := w.Tables.UpdateCluster(w.t.Context(), w.cluster.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.IgnoredHostValidations, c.IgnoredClusterValidations = []string{"all"}, []string{"all"}
		return nil
	})
	require.NoError(w.t, err)
	w.statuses = map[uuid.UUID]string{w.cluster.ID: string(w.cluster.Status)}
	for _, h := range w.HostsOf(w.t, w.cluster) {
		w.statuses[h.ID] = string(h.Status)
	}
}

// forward picks what brings the installation on.
func (w *randomInstallation) forward() act {
	id := w.cluster.ID
	c, err := w.Tables.Cluster(w.t.Context(), id)
	require.NoError(w.t, err)
	hosts := w.HostsOf(w.t, w.cluster)
	request := activities.InstallRequest{ClusterID: id, Attempt: c.InstallAttempt}
	refresh := act{"refresh", func(ctx context.Context) error { return w.rules.RefreshCluster(ctx, id) }}
	switch c.Status {
	case model.ClusterPreparingForInstallation:
		return []act{
			{"prepare", func(ctx context.Context) error {
				_, err := w.BeginPreparation(ctx, request)
				return err
			}},
			{"checks", func(ctx context.Context) error { return w.checked(ctx, hosts) }},
			refresh,
			{"conclude", func(ctx context.Context) error {
				if !lifecycle.AnyIn(hosts, model.HostPreparingSuccessful) {
					return nil
				}
				return w.conclude(ctx, c.InstallAttempt, "")
			}},
		}[w.IntN(4)]
	case model.ClusterFinalizing:
		return act{"finish", func(ctx context.Context) error { return w.CompleteInstallation(ctx, request) }}
	case model.ClusterInstalling, model.ClusterInstallingPendingUserAction:
		for _, h := range hosts {
			switch h.Status {
			case model.HostInstalling, model.HostInstallingInProgress, model.HostInstallingPendingUserAction:
				return act{"done", func(ctx context.Context) error {
					return w.progress.Stage(ctx, h.InfraEnvID, h.ID, model.StageDone, "")
				}}
			case model.HostError:
				return act{"attempt", func(ctx context.Context) error {
					return w.BeginAttempt(ctx, w.next(h, true))
				}}
			}
		}
	}
	return refresh
}

// conclude ends a preparation, with a problem if there is one.
func (w *randomInstallation) conclude(ctx context.Context, attempt int, problem string) error {
	_, err := w.ConcludePreparation(ctx, activities.PreparationConclusion{
		InstallRequest: activities.InstallRequest{ClusterID: w.cluster.ID, Attempt: attempt},
		Outcome:        activities.PreparationOutcome{Ready: problem == "", Reason: problem},
	})
	return err
}

// next returns the next attempt of a host.
func (w *randomInstallation) next(h *model.Host, fromStart bool) activities.AttemptRequest {
	ref := activities.HostRef{ClusterID: w.cluster.ID, InfraEnvID: h.InfraEnvID, HostID: h.ID}
	return activities.AttemptRequest{HostRef: ref, Attempt: h.Attempt + 1, FromStart: fromStart}
}

// over lists the failures of workflows whose attempt is over.
var over = []string{activities.FailureRefused, activities.FailureSuperseded}

// refused reports whether an activity ended for good, because of a cluster or host that is gone or past it.
func refused(err error) bool {
	var failure *temporal.ApplicationError
	return errors.As(err, &failure) && slices.Contains(over, failure.Type())
}

// checked gives the hosts what their checks find.
func (w *randomInstallation) checked(ctx context.Context, hosts []*model.Host) error {
	for _, h := range hosts {
		_, err := w.Tables.UpdateHost(ctx, h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
			h.InstallationDiskPath, h.DiskSpeed = "/dev/sda", map[string]model.DiskSpeed{"/dev/sda": {Tested: true}}
			h.Images = []wire.ContainerImageAvailability{{Name: "a", Result: wire.ContainerImageAvailabilityResultSuccess}}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// act picks one of the possible acts; most of them fit only sometimes.
func (w *randomInstallation) act() act {
	id := w.cluster.ID
	hosts := w.HostsOf(w.t, w.cluster)
	h := hosts[w.IntN(len(hosts))]
	current, err := w.Tables.Cluster(w.t.Context(), id)
	require.NoError(w.t, err)
	attempt, yes := current.InstallAttempt, w.IntN(2) == 0
	request := activities.InstallRequest{ClusterID: id, Attempt: attempt}
	stages := append(steps.StagesFor(h.EffectiveRole(), h.Bootstrap, false), model.StageDone, model.StageFailed)
	stage := stages[w.IntN(len(stages))]
	refresh := act{"refresh", func(ctx context.Context) error { return w.rules.RefreshCluster(ctx, id) }}
	all := []act{
		refresh, refresh,
		{"install", func(ctx context.Context) error { _, err := w.commands.Install(ctx, id); return err }},
		{"prepare", func(ctx context.Context) error { _, err := w.BeginPreparation(ctx, request); return err }},
		{"prepare", func(ctx context.Context) error { _, err := w.BeginPreparation(ctx, request); return err }},
		{"conclude", func(ctx context.Context) error { return w.conclude(ctx, attempt, "") }},
		{"conclude", func(ctx context.Context) error { return w.conclude(ctx, attempt, "") }},
		{"conclude with a problem", func(ctx context.Context) error {
			return w.conclude(ctx, attempt, "no room")
		}},
		{"cancel", func(ctx context.Context) error { return w.CancelInstallation(ctx, request) }},
		{"begin reset", func(ctx context.Context) error {
			_, err := w.BeginReset(ctx, activities.ResetTarget{ClusterID: id})
			return err
		}},
		{"finish reset", func(ctx context.Context) error { return w.FinishReset(ctx, activities.ResetTarget{ClusterID: id}) }},
		{"fail cluster", func(ctx context.Context) error {
			return w.FailInstallation(ctx, activities.ClusterFailure{ClusterID: id, Reason: "time is over", Waiting: yes})
		}},
		{"resume", func(ctx context.Context) error { return w.ResumeInstallation(ctx, request) }},
		{"finish", func(ctx context.Context) error { return w.CompleteInstallation(ctx, request) }},
		{"finalizing stage", func(ctx context.Context) error {
			return w.Reports.FinalizingProgress(ctx, id, model.FinalizingAddingRouterCA)
		}},
		{"finalizing stage is slow", func(ctx context.Context) error {
			_, err := w.JudgeFinalizing(ctx, activities.FinalizingClock{
				ClusterID: id, Stage: model.FinalizingAddingRouterCA, Limit: time.Hour, Soft: yes,
			})
			return err
		}},
	}
	for range 4 { // reports of hosts are the most frequent
		all = append(all,
			act{"progress", func(ctx context.Context) error { return w.progress.Stage(ctx, h.InfraEnvID, h.ID, stage, "") }},
			act{"attempt", func(ctx context.Context) error { return w.BeginAttempt(ctx, w.next(h, yes)) }})
	}
	all = append(all, w.hostActs(h, yes)...)
	return all[w.IntN(len(all))]
}

func (w *randomInstallation) hostActs(h *model.Host, yes bool) []act {
	env, id := h.InfraEnvID, h.ID
	ref := activities.HostRef{ClusterID: w.cluster.ID, InfraEnvID: env, HostID: id}
	return []act{
		{"done", func(ctx context.Context) error { return w.progress.Stage(ctx, env, id, model.StageDone, "") }},
		{"fail host", func(ctx context.Context) error {
			return w.FailHost(ctx, activities.HostFailure{HostRef: ref, Reason: "I/O error"})
		}},
		{"give up", func(ctx context.Context) error { return w.GiveUpHost(ctx, activities.HostFailure{HostRef: ref}) }},
		{"await live image", func(ctx context.Context) error {
			return w.RetryHost(ctx, activities.RetryRequest{HostRef: ref, LeftLiveImage: true})
		}},
		{"reboot timed out", func(ctx context.Context) error { return w.RebootTimedOut(ctx, ref) }},
		{"stage is slow", func(ctx context.Context) error {
			_, err := w.JudgeStage(ctx, activities.StageClock{HostRef: ref, Limit: time.Hour, Soft: yes})
			return err
		}},
		{"register", func(ctx context.Context) error {
			_, err := w.discovery.Register(ctx, discovery.RegisterInput{InfraEnvID: env, HostID: id, AgentSteps: model.FineSteps})
			return err
		}},
	}
}

// hold follows the history since the last act, and compares where it ends with the rows.
func (w *randomInstallation) hold(name string, met map[string]int) {
	w.t.Helper()
	page, err := w.Tables.Events(w.t.Context(), store.EventFilter{ClusterID: w.cluster.ID, Offset: w.seen})
	require.NoError(w.t, err)
	w.seen += len(page.Events)
	for _, e := range page.Events {
		switch e.Name {
		case string(events.HostStatusUpdated):
			from, to := fmt.Sprint(e.Props["src_status"]), fmt.Sprint(e.Props["new_status"])
			require.Equal(w.t, w.statuses[*e.HostID], from, "%s: the history of a host has a gap", name)
			w.follow(name, *e.HostID, to, lifecycle.HostTable(), met)
		case string(events.ClusterStatusUpdated):
			w.follow(name, w.cluster.ID, fmt.Sprint(e.Props["cluster_status"]), lifecycle.ClusterTable(), met)
		}
	}
	c, err := w.Tables.Cluster(w.t.Context(), w.cluster.ID)
	require.NoError(w.t, err)
	require.Equal(w.t, w.statuses[c.ID], string(c.Status), "%s: a cluster changed without an event", name)
	for _, h := range w.HostsOf(w.t, w.cluster) {
		require.Equal(w.t, w.statuses[h.ID], string(h.Status), "%s: a host changed without an event", name)
	}
}

// follow holds one transition to the rows of a table.
func (w *randomInstallation) follow(name string, id uuid.UUID, to string, rows []lifecycle.Row, met map[string]int) {
	w.t.Helper()
	from := w.statuses[id]
	w.statuses[id] = to
	met[from+" to "+to]++
	allowed := slices.ContainsFunc(rows, func(r lifecycle.Row) bool {
		return slices.Contains(r.From, from) && (r.To == to || r.To == "" && from == to)
	})
	require.True(w.t, allowed, "%s: no row leads from %s to %s", name, from, to)
}
