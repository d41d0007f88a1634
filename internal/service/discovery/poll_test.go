package discovery_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

func TestQuestionsAreAskedOnceUntilTheyAreDueAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	first := m.poll(t)
	require.Len(t, first.Instructions, 1)
	step := first.Instructions[0]
	require.Equal(t, wire.StepTypeInventory, step.StepType)
	require.Regexp(t, `^inventory-[0-9a-f]{8}$`, step.StepID)
	require.Equal(t, []string{m.id.String()}, step.Args)
	require.Equal(t, wire.Continue, first.PostStepAction)
	require.Empty(t, m.poll(t).Instructions)
	l.pass(2*time.Minute + time.Second)
	again := m.poll(t)
	require.Len(t, again.Instructions, 1, "an unanswered question is repeated")
	require.NotEqual(t, step.StepID, again.Instructions[0].StepID)
}

func TestPollsAtTheSameTimeAskOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	var wg sync.WaitGroup
	counts := make([]int, 8)
	for i := range counts {
		wg.Go(func() {
			steps, err := l.service.NextSteps(t.Context(), m.pollInput(0))
			if err == nil {
				counts[i] = len(steps.Instructions)
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	require.Equal(t, 1, total)
}

func TestPollOfAnUnknownHostIsNotFound(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, err := l.service.NextSteps(t.Context(), discovery.PollInput{InfraEnvID: uuid.New(), HostID: uuid.New(), Wait: time.Minute})
	require.ErrorIs(t, err, model.ErrNotFound)
}

func TestCheckInsAreWrittenAtMostEveryTenSeconds(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	l.stopClock()
	m.answerAll(t)
	first := m.read(t)
	require.NotZero(t, first.Timestamp, "the first poll reports the host's clock")
	l.pass(5 * time.Second)
	m.poll(t)
	require.Equal(t, first.CheckedInAt, m.read(t).CheckedInAt)
	l.pass(6 * time.Second)
	m.poll(t)
	eventually(t, func() bool { return m.read(t).CheckedInAt.After(first.CheckedInAt) }, "the poll was not recorded",
		func() any { return nil })
}

// hold begins a poll and returns its answer as a channel, once the poll is waiting.
func (m *machine) hold(t *testing.T, wait time.Duration) <-chan wire.Steps {
	t.Helper()
	before := m.read(t).CheckedInAt
	m.pass(11 * time.Second) // so that the poll shows itself by a check-in
	out := make(chan wire.Steps, 1)
	go func() {
		steps, err := m.service.NextSteps(t.Context(), m.pollInput(wait))
		if err == nil {
			out <- steps
		}
		close(out)
	}()
	eventually(t, func() bool { return m.read(t).CheckedInAt.After(before) }, "the poll did not begin", func() any { return nil })
	return out
}

// answered returns the answer of a held poll. A poll that is not woken is answered too, without steps, at the end of its time.
func answered(t *testing.T, held <-chan wire.Steps) wire.Steps {
	t.Helper()
	steps := await.Receive(t, held, "the poll is not answered")
	require.NotEmpty(t, steps.PostStepAction, "the poll failed")
	return steps
}

func TestHeldPollIsAnsweredWhenAStepIsReady(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.listen(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.answerAll(t)
	held := m.hold(t, time.Minute)
	m.arm(t, c, "image-write", "image-write-1")
	answer := answered(t, held)
	require.Len(t, answer.Instructions, 1)
	require.Equal(t, steps.ImageWrite, answer.Instructions[0].StepType)
	require.Zero(t, answer.NextInstructionSeconds)
	require.Equal(t, model.ActivitySent, m.activity(t, c, "image-write-1").State)
}

func TestHeldPollIsAnsweredWhenNetworksChange(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *labOptions) { o.DisabledSteps = []string{"connectivity-check", "free-network-addresses"} })
	l.run(t)
	c, env := l.cluster(t, singleNode)
	m := l.machine(env, 0)
	m.register(t)
	m.answerAll(t)
	m.reaches(t, model.HostInsufficient)
	m.answerAll(t)
	m.reaches(t, model.HostKnown)
	held := m.hold(t, time.Minute)
	_, err := l.store.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, tx *store.Tx) error {
		c.NTPSources = []string{"192.0.2.123"}
		c.NetworkGeneration++
		tx.RefreshCluster(c.ID)
		return nil
	})
	require.NoError(t, err)
	steps := answered(t, held)
	types := map[wire.StepType][]string{}
	for _, step := range steps.Instructions {
		types[step.StepType] = step.Args
	}
	require.Equal(t, []string{`{"ntp_source":"192.0.2.123"}`}, types[wire.StepTypeNtpSynchronizer])
	require.Contains(t, types, wire.StepTypeDomainResolution)
}

func TestHeldPollIsAnsweredWhenAQuestionBecomesDue(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.listen(t)
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.poll(t) // asks for the inventory; without an answer it is asked again after two minutes
	l.pass(time.Minute)
	m.poll(t)
	l.pass(time.Minute - 13*time.Second)
	held := m.hold(t, time.Minute) // eleven seconds later
	steps := answered(t, held)
	require.Len(t, steps.Instructions, 1)
	require.Equal(t, wire.StepTypeInventory, steps.Instructions[0].StepType)
}

func TestHeldPollEndsWithItsRequestAndWithItsTime(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.listen(t)
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.answerAll(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := l.service.NextSteps(ctx, m.pollInput(time.Minute))
		done <- err
	}()
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)

	steps, err := l.service.NextSteps(t.Context(), m.pollInput(100*time.Millisecond))
	require.NoError(t, err)
	require.Empty(t, steps.Instructions)
}

func TestStepsAreDeliveredAgainOnlyWhereThatIsHarmless(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	tests := map[string]struct {
		agentSteps model.AgentSteps
		stage      model.Stage
		after      time.Duration
		again      bool
	}{
		"not at once":                          {model.FineSteps, "", time.Second, false},
		"to our agent after ten seconds":       {model.FineSteps, model.StageInstalling, 11 * time.Second, true},
		"to a foreign agent later":             {model.InstallStep, "", 11 * time.Second, false},
		"to a foreign agent after a minute":    {model.InstallStep, "", time.Minute, true},
		"not to one that reports stages of it": {model.InstallStep, model.StageInstalling, time.Hour, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, env := l.cluster(t)
			m := l.machine(env, 0)
			m.agentSteps = test.agentSteps
			m.register(t)
			m.installing(t, c, "")
			m.arm(t, c, "install", "install-1")
			require.Len(t, m.poll(t).Instructions, 1)
			m.set(t, func(h *model.Host) { h.Stage = test.stage })
			require.Empty(t, m.poll(t).Instructions)
			// The clock is the lab's: each machine only looks at its own step.
			later := discovery.New(discovery.Options{
				Store: l.later(t, test.after), Evaluation: l.evaluation, Log: discard(), Timeouts: timeouts(),
				Now: func() time.Time { return l.now().Add(test.after) },
			})
			steps, err := later.NextSteps(t.Context(), m.pollInput(0))
			require.NoError(t, err)
			require.Equal(t, test.again, len(steps.Instructions) == 1)
		})
	}
}

func TestAgentsThatHaveToLeaveAreToldSo(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.set(t, func(h *model.Host) { h.Status = model.HostBinding })
	steps, err := l.service.NextSteps(t.Context(), m.pollInput(20*time.Second))
	require.NoError(t, err)
	require.Equal(t, wire.Exit, steps.PostStepAction)
	require.Empty(t, steps.Instructions)
}

func TestOtherAgentsAreUpgradedFirst(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *labOptions) { o.AgentImage = "agent:2" })
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.agentSteps = model.InstallStep
	m.register(t)
	steps := m.poll(t)
	require.Len(t, steps.Instructions, 1)
	require.Equal(t, wire.StepTypeUpgradeAgent, steps.Instructions[0].StepType)
	require.Equal(t, []string{`{"agent_image":"agent:2"}`}, steps.Instructions[0].Args)
}
