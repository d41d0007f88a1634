package store_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// writing makes a step that writes a disk, of an attempt of a cluster.
func writing(c *model.Cluster, h *model.Host, id, run string, attempt int) model.PendingActivity {
	return model.PendingActivity{
		ID: id, Kind: model.ActivityStep, ClusterID: c.ID, InfraEnvID: &h.InfraEnvID, HostID: &h.ID, Type: "image-write",
		WorkflowID: "host:" + h.ID.String(), RunID: run, ActivityID: id, TaskToken: []byte("t"), HeartbeatEvery: time.Minute,
		Fence: model.Fence{Takes: model.HostStatuses{"installing", "installing-in-progress"}, ClusterAttempt: attempt},
	}
}

func setHost(t *testing.T, s *store.Store, h *model.Host, change func(*model.Host)) {
	t.Helper()
	_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		change(h)
		return nil
	})
	require.NoError(t, err)
}

func setAttempt(t *testing.T, s *store.Store, c *model.Cluster, attempt int) {
	t.Helper()
	_, err := s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.InstallAttempt = attempt
		return nil
	})
	require.NoError(t, err)
}

// A step that was right when it was written is held back when it no longer is, and is handed out when it is again.
func TestStepIsHandedOutOnlyWhileItsFenceHolds(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	setAttempt(t, s, c, 3)
	setHost(t, s, h, func(h *model.Host) { h.Status, h.WorkflowAttempt = model.HostInstalling, 5 })
	step := writing(c, h, "image-write-1", "run-1", 3)
	step.Fence.HostAttempt = 5
	_, err := s.ArmActivity(t.Context(), step)
	require.NoError(t, err)
	delivered := func() int {
		steps, err := s.DeliverSteps(t.Context(), h.InfraEnvID, h.ID, s.Now().Add(time.Hour))
		require.NoError(t, err)
		return len(steps)
	}
	require.Equal(t, 1, delivered())
	for _, status := range []model.HostStatus{
		"installed", "added-to-existing-cluster", "error", "cancelled", "discovering", "known", "resetting",
	} {
		setHost(t, s, h, func(h *model.Host) { h.Status = status })
		require.Zero(t, delivered(), "a host that is %s", status)
	}
	setHost(t, s, h, func(h *model.Host) { h.Status = model.HostInstallingInProgress })
	require.Equal(t, 1, delivered())
	setAttempt(t, s, c, 4)
	require.Zero(t, delivered(), "another installation of the cluster")
	setAttempt(t, s, c, 3)
	setHost(t, s, h, func(h *model.Host) { h.WorkflowAttempt = 6 })
	require.Zero(t, delivered(), "another attempt of the host alone")
	setHost(t, s, h, func(h *model.Host) { h.WorkflowAttempt, h.ClusterID = 5, nil })
	require.Zero(t, delivered(), "a host that has left the cluster")
}

func TestStepWhoseFenceDoesNotHoldIsNotWritten(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	setAttempt(t, s, c, 3)
	for name, tt := range map[string]struct {
		status  model.HostStatus
		attempt int
		want    error
	}{
		"right":                   {model.HostInstalling, 3, nil},
		"an earlier installation": {model.HostInstalling, 2, model.ErrConflict},
		"a host that is done":     {model.HostInstalled, 3, model.ErrConflict},
		"of no installation":      {model.HostInstalling, 0, nil},
	} {
		setHost(t, s, h, func(h *model.Host) { h.Status = tt.status })
		_, err := s.ArmActivity(t.Context(), writing(c, h, "image-write-"+name, "run-"+name, tt.attempt))
		require.ErrorIs(t, err, tt.want, name)
		list, err := s.PendingActivities(t.Context(), c.ID)
		require.NoError(t, err)
		written := slices.ContainsFunc(list, func(i model.PendingActivity) bool { return i.ID == "image-write-"+name })
		require.Equal(t, tt.want == nil, written, name)
	}
}

func TestStepAskedForOnceMoreTakesThePlaceOfTheOneBefore(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	arm(t, s, c, h, "image-write-1", "run-1")
	arm(t, s, c, h, "image-write-2", "run-1")
	steps, err := s.DeliverSteps(t.Context(), h.InfraEnvID, h.ID, s.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, steps, 1)
	require.Equal(t, "image-write-2", steps[0].ID)
}

// installing makes a host in the third installation of its cluster.
func installing(t *testing.T, s *store.Store) (*model.Cluster, *model.Host) {
	t.Helper()
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	setAttempt(t, s, c, 3)
	setHost(t, s, h, func(h *model.Host) { h.Status = model.HostInstalling })
	return c, h
}

// deliver gives a host its steps, and returns how many.
func deliver(t *testing.T, s *store.Store, h *model.Host) int {
	t.Helper()
	steps, err := s.DeliverSteps(t.Context(), h.InfraEnvID, h.ID, time.Time{})
	require.NoError(t, err)
	return len(steps)
}

// The stage "Installing" of a bootstrap host has three steps. A run that begins it anew finds the first one done while the host
// does the second, and asks for that afterwards.
func TestLaterStepOfAStageIsTakenOverByAnotherRunToo(t *testing.T) {
	t.Parallel()
	for name, answered := range map[string]bool{"the host does it": false, "the host has done it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			c, h := installing(t, s)
			command := func(step, id, run string) model.PendingActivity {
				row := writing(c, h, id, run, 3)
				row.Type, row.Fence.HostTry, row.TaskToken = step, 1, []byte("token of "+run)
				now, err := s.ArmActivity(t.Context(), row)
				require.NoError(t, err)
				return now
			}
			answer := func(step string) {
				_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, tx *store.Tx) error {
					tx.StepReplied(h, store.Reply{StepID: step})
					return nil
				})
				require.NoError(t, err)
			}
			command("disk-clean", "disk-clean-1", "run-1")
			require.Equal(t, 1, deliver(t, s, h))
			answer("disk-clean-1")
			command("bootstrap-start", "bootstrap-start-1", "run-1")
			require.Equal(t, 1, deliver(t, s, h))
			if answered {
				answer("bootstrap-start-1")
			}
			require.Equal(t, "disk-clean-1", command("disk-clean", "disk-clean-2", "run-2").ID)
			require.Equal(t, "bootstrap-start-1", command("bootstrap-start", "bootstrap-start-2", "run-2").ID)
			require.Zero(t, deliver(t, s, h), "it is commanded once")
		})
	}
}

// A workflow that was reset or begun again in Temporal commands what the host may have begun, or done, for the run before.
func TestStepOfTheSameTryIsTakenOverByAnotherRun(t *testing.T) {
	t.Parallel()
	reply := func(code int) func(*testing.T, *store.Store, *model.Host) {
		return func(t *testing.T, s *store.Store, h *model.Host) {
			_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, tx *store.Tx) error {
				tx.StepReplied(h, store.Reply{StepID: "image-write-1", ExitCode: code})
				return nil
			})
			require.NoError(t, err)
		}
	}
	forward := func(t *testing.T, s *store.Store, _ *model.Host) {
		found, err := s.ForwardReported(t.Context(), time.Minute, func(model.PendingActivity) error { return nil })
		require.NoError(t, err)
		require.True(t, found)
	}
	fail := func(t *testing.T, s *store.Store, h *model.Host) {
		_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, tx *store.Tx) error {
			tx.SupersedeHost(h)
			return nil
		})
		require.NoError(t, err)
	}
	type change = func(*testing.T, *store.Store, *model.Host)
	for name, tt := range map[string]struct {
		before []change
		try    int
		run    string
		id     string
		state  model.ActivityState
		gets   int // how many more steps the host is given
	}{
		"the host has it":              {nil, 1, "run-2", "image-write-1", "sent", 0},
		"the host has done it":         {[]change{reply(0)}, 1, "run-2", "image-write-1", "reported", 0},
		"the run before knew that":     {[]change{reply(0), forward}, 1, "run-2", "image-write-1", "done", 0},
		"it has just failed":           {[]change{reply(1)}, 1, "run-2", "image-write-1", "reported", 0},
		"the run before knew of it":    {[]change{reply(1), forward}, 1, "run-2", "image-write-2", "pending", 1},
		"it was called off":            {[]change{fail}, 1, "run-2", "image-write-2", "pending", 1},
		"another try":                  {[]change{reply(0), forward}, 2, "run-2", "image-write-2", "pending", 1},
		"the same run lost the answer": {[]change{reply(0), forward}, 1, "run-1", "image-write-1", "done", 0},
		"and it is on its way":         {[]change{reply(0)}, 1, "run-1", "image-write-1", "reported", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			c, h := installing(t, s)
			command := func(id, run string, try int) model.PendingActivity {
				step := writing(c, h, id, run, 3)
				step.Fence.HostTry, step.TaskToken = try, []byte("token of "+run)
				now, err := s.ArmActivity(t.Context(), step)
				require.NoError(t, err)
				return now
			}
			command("image-write-1", "run-1", 1)
			require.Equal(t, 1, deliver(t, s, h))
			for _, do := range tt.before {
				do(t, s, h)
			}
			now := command("image-write-2", tt.run, tt.try)
			require.Equal(t, tt.id, now.ID)
			require.Equal(t, tt.state, now.State)
			require.Equal(t, "token of "+tt.run, string(now.TaskToken), "its answer goes to the new run")
			require.Equal(t, tt.gets, deliver(t, s, h))
			require.Equal(t, tt.id, command("image-write-2", tt.run, tt.try).ID, "an activity may run twice")
		})
	}
}

// The workflow that resets a cluster gives each of its hosts the same step.
func TestStepsOfOneWorkflowForSeveralHostsStandSideBySide(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	for i := range 3 {
		h := newHost(t, s, &c.ID)
		step := writing(c, h, fmt.Sprint("stop-", i), "run-1", 0)
		step.WorkflowID, step.Fence.Takes = "reset:x", nil
		_, err := s.ArmActivity(t.Context(), step)
		require.NoError(t, err)
	}
	list, err := s.PendingActivities(t.Context(), c.ID)
	require.NoError(t, err)
	require.Len(t, list, 3)
	for _, i := range list {
		require.Equal(t, model.ActivityPending, i.State, i.ID)
	}
}

func TestStepThatWasNotSentNeverWillBe(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	arm(t, s, c, h, "image-write-1", "run-1")
	for range 2 { // an activity may run twice
		sent, err := s.VoidUnsent(t.Context(), "host:"+h.ID.String(), "run-1", "image-write")
		require.NoError(t, err)
		require.False(t, sent)
	}
	require.Zero(t, deliver(t, s, h), "the host has come back")
	arm(t, s, c, h, "image-write-2", "run-1")
	require.Equal(t, 1, deliver(t, s, h))
	sent, err := s.VoidUnsent(t.Context(), "host:"+h.ID.String(), "run-1", "image-write")
	require.NoError(t, err)
	require.True(t, sent)
	_, err = s.VoidUnsent(t.Context(), "host:"+h.ID.String(), "run-2", "image-write")
	require.ErrorIs(t, err, model.ErrNotFound)
}

var fenceSeed = flag.Uint64("fence-seed", 0, "of the random orders of commands and deliveries; 0 takes another one each time")

// TestRandomOrdersDeliverEachCommandOnceAndOnlyWhereItBelongs begins installations, retries, runs of workflows that were
// reset in Temporal's UI, time-outs, boots, failures and ends in random orders, with hosts that ask all the time. What is
// expected is reckoned by hand: the commands that are open, in order, and the status, attempt and boot of the host.
func TestRandomOrdersDeliverEachCommandOnceAndOnlyWhereItBelongs(t *testing.T) {
	t.Parallel()
	start := *fenceSeed
	if start == 0 {
		start = uint64(time.Now().UnixNano())
	}
	s, _ := open(t)
	for i := range uint64(10) {
		t.Logf("order of -fence-seed %d", start+i)
		random := rand.New(rand.NewPCG(start+i, start+i))
		c := newCluster(t, s)
		h := newHost(t, s, &c.ID)
		attempt, run, boot, commands := 1, 1, 1, 0
		register(t, s, h, "boot-1")
		status := model.HostInstalling
		setAttempt(t, s, c, attempt)
		setHost(t, s, h, func(h *model.Host) { h.Status = status })
		open, openAttempt := "", 0 // the command that waits for the host, and its attempt
		writes := map[string]int{}
		for range 60 {
			switch random.IntN(9) {
			case 0, 1: // the workflow of some attempt commands, also one that should have ended
				commands++
				of := max(1, attempt-random.IntN(2))
				if random.IntN(4) == 0 {
					run++ // reset in Temporal's UI
				}
				id := fmt.Sprintf("image-write-%d-%d", i, commands)
				known := max(1, boot-random.IntN(6)/5) // what the workflow knows of the host may be a boot old
				_, err := s.ArmActivity(t.Context(), ofBoot(writing(c, h, id, fmt.Sprint("run-", run), of), fmt.Sprint("boot-", known)))
				right := of == attempt && (status == "installing" || status == "installing-in-progress")
				require.Equal(t, !right, errors.Is(err, model.ErrConflict), "%s of attempt %d: %v", id, of, err)
				require.Equal(t, right && known != boot, errors.Is(err, model.ErrUnavailable), "%s of boot %d: %v", id, known, err)
				if right && known == boot {
					require.NoError(t, err)
					open, openAttempt = id, of
				}
			case 2: // a time-out that found the host silent
				sent, err := s.VoidUnsent(t.Context(), "host:"+h.ID.String(), fmt.Sprint("run-", run), "image-write")
				if err == nil && !sent {
					open = ""
				}
			case 3:
				status = []model.HostStatus{
					"installing", "installing-in-progress", "installing-in-progress", "installed", "error", "cancelled", "discovering",
				}[random.IntN(7)]
				setHost(t, s, h, func(h *model.Host) { h.Status = status })
			case 4:
				attempt++
				setAttempt(t, s, c, attempt)
			case 5: // the host registers, after a boot or in the same one
				if random.IntN(2) == 0 {
					boot++
					open = ""
				}
				register(t, s, h, fmt.Sprint("boot-", boot))
			default: // the host asks
				steps, err := s.DeliverSteps(t.Context(), h.InfraEnvID, h.ID, time.Time{})
				require.NoError(t, err)
				if open == "" || openAttempt != attempt || status != "installing" && status != "installing-in-progress" {
					require.Empty(t, steps, "attempt %d, host %s", attempt, status)
					continue
				}
				require.Len(t, steps, 1)
				require.Equal(t, open, steps[0].ID)
				writes[open]++
				require.Equal(t, 1, writes[open], "each command is handed out once")
				open = ""
			}
		}
		// Whatever came before, a host that is where its workflow takes it for gets the next command, once.
		setHost(t, s, h, func(h *model.Host) { h.Status = model.HostInstalling })
		register(t, s, h, fmt.Sprint("boot-", boot))
		last := fmt.Sprintf("image-write-%d-last", i)
		_, err := s.ArmActivity(t.Context(), ofBoot(writing(c, h, last, "run-last", attempt), fmt.Sprint("boot-", boot)))
		require.NoError(t, err)
		require.Equal(t, 1, deliver(t, s, h))
		require.Zero(t, deliver(t, s, h))
	}
}
