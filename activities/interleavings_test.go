package activities_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"slipway/activities"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
	"slipway/internal/service/reports"
)

var interleavings = flag.Int("interleavings", 300, "how many random orders of reports and activities are tried")

const (
	interleavedActs = 8
	interleavedSets = 6 // of hosts and databases, side by side
)

// passes are the stages of a master that reports for itself. Their order is written out by the tests of package steps.
var passes = steps.StagesFor(model.RoleMaster, false, false)

var (
	ofReboot = slices.Index(passes, "Rebooting")
	ofDone   = slices.Index(passes, "Done")
	// ofConfiguring is the first stage after the reboot.
	ofConfiguring = slices.Index(passes, "Configuring")
)

// sequential is the state of one host and its installation after reports and activities that come one at a time. Only what users and
// workflows rely on is in it.
type sequential struct {
	status  string
	stage   int // among passes; -1 is none
	attempt int
	cluster string
	decides bool // its workflow waits for a decision, which reports from the disk take
}

func (m sequential) String() string {
	stage := "none"
	if m.stage >= 0 {
		stage = string(passes[m.stage])
	}
	return fmt.Sprintf("host %s in stage %s, attempt %d, decision %t, cluster %s", m.status, stage, m.attempt, m.decides, m.cluster)
}

func (m *sequential) is(statuses ...string) bool { return slices.Contains(statuses, m.status) }

// fails notes a failure that a report or a new boot proves. There is nothing to decide where the cluster is not being installed.
func (m *sequential) fails() string {
	m.status = "error"
	m.decides = m.decides || m.cluster == "installing"
	return accepted
}

const (
	accepted = ""
	conflict = "conflict"
)

// event happens to the host. alone changes the model as the event does without other events meanwhile, and returns the answer.
type event struct {
	name  string
	alone func(m *sequential) string
	do    func(ctx context.Context) error
}

// TestNoInterleavingLosesAReport lets pairs of reports, activities, cancels, resets and registrations happen at the same moment.
// Afterwards the host is as if one had come before the other, and waits of the workflow have ended when the host is past them.
func TestNoInterleavingLosesAReport(t *testing.T) {
	t.Parallel()
	start := *seed
	if start == 0 {
		start = uint64(time.Now().UnixNano())
	}
	for set := range interleavedSets {
		t.Run(fmt.Sprintf("set %d", set), func(t *testing.T) {
			t.Parallel()
			x := newInterleaved(t)
			for i := set; i < *interleavings; i += interleavedSets {
				s := start + uint64(i)
				x.Rand = rand.New(rand.NewPCG(s, s))
				x.begins(t)
				for range interleavedActs {
					x.pair(t, s)
				}
			}
		})
	}
}

// interleaved is one host of a cluster of its own, and the activities of its workflow.
type interleaved struct {
	bench
	*rand.Rand
	env       *testsuite.TestActivityEnvironment
	once      sync.Mutex // of env
	discovery *discovery.Service
	progress  reports.Hosts
	host      *model.Host
	model     sequential
	waits     map[string]int // of armed waits for stages, the stage
	story     []string
}

func newInterleaved(t *testing.T) *interleaved {
	t.Helper()
	b := newBench(t)
	x := &interleaved{
		bench: b, progress: reports.Hosts{Store: b.Tables, Timeouts: lifecycle.DefaultTimeouts()},
		discovery: discovery.New(discovery.Options{
			Store: b.Tables, Evaluation: b.rules, Log: slog.New(slog.DiscardHandler), Now: time.Now, Timeouts: lifecycle.DefaultTimeouts(),
		}),
	}
	c := b.NewCluster(t, model.ClusterInstalling, model.HostInstalling, "", 1)
	_, err := b.Tables.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.ControlPlaneCount = 3 // no single node: its stages are others
		return nil
	})
	require.NoError(t, err)
	x.host = b.HostsOf(t, c)[0]
	x.Progress = x.progress
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	x.env = suite.NewTestActivityEnvironment()
	x.env.RegisterActivity(&activities.Steps{Store: b.Tables, Progress: x.progress, Builder: fixedArgs{"{}"}})
	return x
}

// begins sets the state in which the cluster of the host is being installed, and its workflow has not begun the attempt.
func (x *interleaved) begins(t *testing.T) {
	t.Helper()
	_, err := x.Tables.UpdateCluster(t.Context(), *x.host.ClusterID, func(c *model.Cluster, tx *store.Tx) error {
		c.Status, c.DecisionOpen, c.InstallAttempt = model.ClusterInstalling, false, 1
		tx.SupersedeCluster(c.ID)
		return nil
	})
	require.NoError(t, err)
	_, err = x.Tables.UpdateHost(t.Context(), x.host.InfraEnvID, x.host.ID, func(h *model.Host, _ *store.Tx) error {
		h.Status, h.Role, h.Bootstrap, h.Stage, h.Progress = model.HostInstalling, model.RoleMaster, false, "", model.HostProgress{}
		h.Attempt, h.DecisionOpen, h.Boot = 0, false, "boot"
		return nil
	})
	require.NoError(t, err)
	x.model, x.waits, x.story = sequential{status: "installing", stage: -1, cluster: "installing"}, map[string]int{}, nil
}

// pair lets two events happen at once, and compares the host's state with both orders.
func (x *interleaved) pair(t *testing.T, s uint64) {
	t.Helper()
	one, other := x.event(), x.event()
	var answers [2]string
	var both sync.WaitGroup
	for i, e := range []event{one, other} {
		both.Add(1)
		go func() {
			defer both.Done()
			answers[i] = answer(e.do(t.Context()))
		}()
	}
	both.Wait()
	x.story = append(x.story, fmt.Sprintf("%s (%s) | %s (%s)", one.name, answers[0], other.name, answers[1]))
	found := x.found(t)
	var expected []string
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		m, events := x.model, [2]event{one, other}
		var said [2]string
		for _, i := range order {
			said[i] = events[i].alone(&m)
		}
		if m == found && said == answers {
			x.model = m
			x.holdWaits(t, s)
			return
		}
		expected = append(expected, fmt.Sprintf("%s, answered %q", m, said))
	}
	require.Failf(t, "a report was lost", "-seed %d:\n%s\nexpected %s\nfound    %s, answered %q",
		s, strings.Join(x.story, "\n"), strings.Join(expected, "\nor       "), found, answers)
}

// answer returns how people and workflows are answered: accepted, refused, or the error itself, which no model expects.
func answer(err error) string {
	switch {
	case err == nil:
		return accepted
	case errors.Is(err, model.ErrConflict), refused(err):
		return conflict
	}
	return err.Error()
}

func (x *interleaved) found(t *testing.T) sequential {
	t.Helper()
	h, err := x.Tables.Host(t.Context(), x.host.InfraEnvID, x.host.ID)
	require.NoError(t, err)
	c, err := x.Tables.Cluster(t.Context(), *x.host.ClusterID)
	require.NoError(t, err)
	return sequential{
		status: string(h.Status), stage: slices.Index(passes, h.Stage), attempt: h.Attempt, cluster: string(c.Status), decides: h.DecisionOpen,
	}
}

// holdWaits looks at the waits of the workflow: a wait for a stage that the host has reached is over, and so is each wait for a host
// that has failed. The others wait, or were called off.
func (x *interleaved) holdWaits(t *testing.T, s uint64) {
	t.Helper()
	rows, err := x.Tables.PendingActivities(t.Context(), *x.host.ClusterID)
	require.NoError(t, err)
	for _, row := range rows {
		stage, ours := x.waits[row.ID]
		if !ours || row.Kind != model.ActivityStage {
			continue
		}
		open := row.State == model.ActivityPending || row.State == model.ActivitySent
		if open && (x.model.stage >= stage || x.model.status == "error") {
			require.Failf(t, "a workflow waits without an end", "-seed %d:\n%s\nthe wait for %s is open, and the %s",
				s, strings.Join(x.story, "\n"), passes[stage], x.model)
		}
	}
}

// event picks one of the events of an installation; most are reports.
func (x *interleaved) event() event {
	switch n := x.IntN(100); {
	case n < 45:
		return x.reports()
	case n < 60:
		return x.waitsFor(x.IntN(len(passes)))
	case n < 78:
		return x.beginsAttempt()
	case n < 82:
		return x.reportsFailure()
	case n < 88:
		return x.registers()
	case n < 92:
		return x.fails()
	case n < 94:
		return x.retries()
	case n < 97:
		return x.isCancelled()
	}
	return x.isReset()
}

// reports returns a report of the next stage as a rule, and of any stage sometimes.
func (x *interleaved) reports() event {
	at := min(x.model.stage+1+x.IntN(2), ofDone)
	if x.IntN(6) == 0 {
		at = x.IntN(len(passes))
	}
	return event{
		name: "report " + string(passes[at]),
		alone: func(m *sequential) string {
			switch {
			case at < m.stage:
				return accepted // it is known
			case m.is("installing", "installing-in-progress", "installing-pending-user-action"):
				m.stage, m.status = at, "installing-in-progress"
				if at == ofDone {
					m.status = "installed"
				}
				return accepted
			case m.is("installed", "resetting-pending-user-action"):
				m.stage = max(m.stage, at)
				return accepted
			case m.is("error") && m.decides && at > m.stage && at >= ofConfiguring: // it runs from its disk
				m.stage, m.status, m.attempt, m.decides = at, "installing-in-progress", m.attempt+1, false
				if at == ofDone {
					m.status = "installed"
				}
				return accepted
			}
			return conflict
		},
		do: func(ctx context.Context) error {
			return x.progress.Stage(ctx, x.host.InfraEnvID, x.host.ID, passes[at], "")
		},
	}
}

func (x *interleaved) reportsFailure() event {
	return event{
		name: "report Failed",
		alone: func(m *sequential) string {
			if !m.is("installing", "installing-in-progress") {
				return conflict
			}
			return m.fails()
		},
		do: func(ctx context.Context) error {
			return x.progress.Stage(ctx, x.host.InfraEnvID, x.host.ID, model.StageFailed, "I/O error")
		},
	}
}

// waitsFor returns the activity in which a workflow waits for a stage; holdWaits sees whether it ends.
func (x *interleaved) waitsFor(at int) event {
	return event{
		name:  "wait for " + string(passes[at]),
		alone: func(*sequential) string { return accepted },
		do: func(ctx context.Context) error {
			x.once.Lock() // the environment is one worker with one slot
			defer x.once.Unlock()
			before, err := x.Tables.PendingActivities(ctx, *x.host.ClusterID)
			if err != nil {
				return err
			}
			var a *activities.Steps
			_, err = x.env.ExecuteActivity(a.AwaitStage, activities.StageRequest{HostRef: ref(x.host), Stage: passes[at]})
			after, lerr := x.Tables.PendingActivities(ctx, *x.host.ClusterID)
			for _, row := range after {
				if !slices.ContainsFunc(before, func(b model.PendingActivity) bool { return b.ID == row.ID }) {
					x.waits[row.ID] = at
				}
			}
			var failed interface{ Type() string }
			if errors.Is(err, activity.ErrResultPending) || errors.As(err, &failed) && failed.Type() == activities.FailureStep {
				err = nil // it waits, or knows that the host has failed
			}
			return errors.Join(err, lerr)
		},
	}
}

// beginsAttempt returns what a workflow does first, and again after a failure.
func (x *interleaved) beginsAttempt() event {
	next := x.model.attempt + 1
	mayBegin := func(m *sequential) bool { return m.attempt == 0 || m.is("error", "known", "discovering") }
	if !mayBegin(&x.model) {
		return x.reports()
	}
	return event{
		name: fmt.Sprintf("begin attempt %d", next),
		alone: func(m *sequential) string {
			switch {
			case m.attempt >= next && m.is("installing", "installing-in-progress", "installing-pending-user-action"):
				return accepted // it has begun
			case m.attempt == 0 && m.is("installing-in-progress", "installing-pending-user-action", "installed", "error"):
				m.attempt = next // what the host reported before counts
			case m.is("installed", "cancelled", "resetting"):
				return conflict
			default:
				m.attempt, m.stage, m.status, m.decides = max(next, m.attempt+1), -1, "installing", false
			}
			return accepted
		},
		do: func(ctx context.Context) error {
			return x.BeginAttempt(ctx, activities.AttemptRequest{HostRef: ref(x.host), Attempt: next, FromStart: true})
		},
	}
}

// fails returns the event of a workflow that gives an attempt up because a step failed.
func (x *interleaved) fails() event {
	return event{
		name: "fail the host",
		alone: func(m *sequential) string {
			switch {
			case m.is("installed"):
				return conflict
			case !m.is("cancelled", "resetting"):
				m.status, m.attempt, m.decides = "error", max(m.attempt, 1), true
			}
			return accepted
		},
		do: func(ctx context.Context) error {
			return x.FailHost(ctx, activities.HostFailure{HostRef: ref(x.host), Reason: "time is over"})
		},
	}
}

// retries returns the retry of a host that has left the live image.
func (x *interleaved) retries() event {
	return event{
		name: "retry with a reboot",
		alone: func(m *sequential) string {
			if m.is("error") {
				m.status, m.stage = "resetting-pending-user-action", -1
			}
			return accepted
		},
		do: func(ctx context.Context) error {
			return x.RetryHost(ctx, activities.RetryRequest{HostRef: ref(x.host), LeftLiveImage: true})
		},
	}
}

func (x *interleaved) registers() event {
	return event{
		name: "register",
		alone: func(m *sequential) string {
			rebooted := m.stage >= ofReboot && m.stage < ofDone
			switch {
			case m.is("installing-in-progress", "installing-pending-user-action") && rebooted:
				m.status = "installing-pending-user-action"
			case m.is("installing", "installing-in-progress"):
				return m.fails()
			case m.is("resetting") && rebooted: // its reboot is still to come
			case m.is("resetting-pending-user-action", "discovering", "known", "resetting"):
				m.status, m.stage = "discovering", -1
			case !m.is("installed", "error"):
				return conflict
			}
			return accepted
		},
		do: func(ctx context.Context) error {
			_, err := x.discovery.Register(ctx, discovery.RegisterInput{
				InfraEnvID: x.host.InfraEnvID, HostID: x.host.ID, AgentSteps: model.FineSteps, Boot: uuid.NewString(),
			})
			return err
		},
	}
}

func (x *interleaved) isCancelled() event {
	return event{
		name: "cancel",
		alone: func(m *sequential) string {
			if m.cluster == "installing" {
				m.cluster, m.status, m.decides = "cancelled", "cancelled", false
			}
			return accepted
		},
		do: func(ctx context.Context) error {
			return x.CancelInstallation(ctx, activities.InstallRequest{ClusterID: *x.host.ClusterID, Attempt: 1})
		},
	}
}

// isReset returns the first half of a reset, after which no report counts.
func (x *interleaved) isReset() event {
	return event{
		name: "reset",
		alone: func(m *sequential) string {
			m.cluster, m.decides = "insufficient", false
			if m.stage < ofReboot && !m.is("resetting-pending-user-action") {
				m.status = "resetting"
			} else {
				m.status = "resetting-pending-user-action" // no agent runs on it
			}
			return accepted
		},
		do: func(ctx context.Context) error {
			_, err := x.BeginReset(ctx, activities.ResetTarget{ClusterID: *x.host.ClusterID})
			return err
		},
	}
}

// quiet drops what the environment logs of activities that are meant to fail.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
