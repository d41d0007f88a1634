package activities_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// commander records its commands.
type commander struct {
	given []string
	err   error
}

func (c *commander) Cancel(_ context.Context, id uuid.UUID) error {
	return c.give("cancel " + id.String())
}

func (c *commander) Reset(_ context.Context, id uuid.UUID) error {
	return c.give("reset " + id.String())
}

func (c *commander) ClusterCommand(_ context.Context, id uuid.UUID, name string) error {
	return c.give(name + " " + id.String())
}

func (c *commander) HostCommand(_ context.Context, _, host uuid.UUID, name string) error {
	return c.give(name + " " + host.String())
}

func (c *commander) give(command string) error {
	c.given = append(c.given, command)
	return c.err
}

func TestCommandsThroughTemporalAreCarriedOutOrRefusedVisibly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.NewCluster(t, model.ClusterInstalling, model.HostError, "", 3)
	h := b.HostsOf(t, c)[1]
	for _, host := range b.HostsOf(t, c) {
		name := "twin"
		if host.ID == h.ID {
			name = "the-one"
		}
		_, err := b.Tables.UpdateHost(t.Context(), host.InfraEnvID, host.ID, func(now *model.Host, _ *store.Tx) error {
			now.RequestedHostname = name
			return nil
		})
		require.NoError(t, err)
	}
	for name, tt := range map[string]struct {
		command activities.ControlCommand
		err     error
		given   string
		refusal string
	}{
		"reset":  {activities.ControlCommand{Name: "reset"}, nil, "reset " + c.ID.String(), ""},
		"cancel": {activities.ControlCommand{Name: "cancel"}, nil, "cancel " + c.ID.String(), ""},
		"pause":  {activities.ControlCommand{Name: "pause"}, nil, "pause " + c.ID.String(), ""},
		"retry by name": {
			activities.ControlCommand{Name: "retry", Input: activities.CommandInput{Host: "the-one"}}, nil, "retry " + h.ID.String(), "",
		},
		"evict by id": {
			activities.ControlCommand{Name: "evict", Input: activities.CommandInput{Host: h.ID.String()}}, nil, "evict " + h.ID.String(), "",
		},
		"no such host": {
			activities.ControlCommand{Name: "retry", Input: activities.CommandInput{Host: "wroker-1"}}, nil, "", `found "wroker-1"`,
		},
		"a name of two": {
			activities.ControlCommand{Name: "retry", Input: activities.CommandInput{Host: "twin"}},
			nil, "",
			"2 hosts have this name; use the id of one",
		},
		"wrong input": {
			activities.ControlCommand{Name: "retry", Input: activities.CommandInput{Wrong: "[1]"}},
			nil, "",
			"require the name of a host as a JSON string, or none, found [1]",
		},
		"misspelt": {
			activities.ControlCommand{Name: "rset"},
			nil, "",
			`require one of cancel, reset, extend, pause, resume, or with the name of a host as input one of retry, retry-step, evict, found "rset"`,
		},
		"without its host": {
			activities.ControlCommand{Name: "retry"}, nil, "", "command retry: the name of a host is required as input",
		},
		"with a host it does not have": {
			activities.ControlCommand{Name: "pause", Input: activities.CommandInput{Host: "the-one"}},
			nil, "",
			`command pause is for the whole cluster: require no input, found "the-one"`,
		},
		"given again by a Reset": {
			activities.ControlCommand{Name: "reset", Again: true}, nil, "", "send it once more to have it carried out",
		},
		"refused": {
			activities.ControlCommand{Name: "reset"},
			model.Conflictf("the cluster is installed"), "reset " + c.ID.String(),
			"the cluster is installed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			commands := &commander{err: tt.err}
			a := activities.Control{Store: b.Tables, Commands: commands}
			tt.command.ClusterID = c.ID
			done, err := a.CommandCluster(t.Context(), tt.command)
			require.False(t, done.Gone)
			if tt.given != "" {
				require.Equal(t, []string{tt.given}, commands.given)
			} else {
				require.Empty(t, commands.given)
			}
			page, eerr := b.Tables.Events(t.Context(), store.EventFilter{ClusterID: c.ID})
			require.NoError(t, eerr)
			if tt.refusal == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.refusal)
			require.True(t, slices.ContainsFunc(page.Events, func(e model.Event) bool {
				return e.Name == "command_refused" && strings.Contains(e.Message, tt.refusal)
			}), "%v", page.Events)
		})
	}
	a := activities.Control{Store: b.Tables, Commands: &commander{err: model.ErrUnavailable}}
	_, err := a.CommandCluster(t.Context(), activities.ControlCommand{ClusterID: c.ID, Name: "reset"})
	require.True(t, errors.Is(err, model.ErrUnavailable), "it is tried again")
	done, err := a.CommandCluster(t.Context(), activities.ControlCommand{ClusterID: uuid.New(), Name: "reset"})
	require.NoError(t, err)
	require.True(t, done.Gone)
}

// ending are workflows that end a while after they were asked to.
type ending struct {
	mu    sync.Mutex
	asked map[string]int
}

func (e *ending) CancelWorkflow(_ context.Context, id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked[id] = 0
	return nil
}

func (e *ending) WorkflowRuns(_ context.Context, id string) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n, ok := e.asked[id]
	e.asked[id]++
	return !ok || n == 0, nil
}

func TestWorkflowsOfHostsAreWaitedForUntilTheyEnd(t *testing.T) {
	t.Parallel()
	e := &ending{asked: map[string]int{}}
	env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
	env.RegisterActivity(&activities.Control{Workflows: e})
	value, err := env.ExecuteActivity("EndHosts", activities.HostWorkflows{IDs: []string{"host:1", "host:2", "host:3"}})
	require.NoError(t, err)
	var left activities.HostWorkflows
	require.NoError(t, value.Get(&left))
	require.Empty(t, left.IDs)
	require.Equal(t, map[string]int{"host:1": 2, "host:2": 2, "host:3": 2}, e.asked)
}

func TestSignalsThatAreRefusedAreEvents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.NewCluster(t, model.ClusterInstalling, model.HostInstalling, "", 1)
	h := b.HostsOf(t, c)[0]
	a := activities.Control{Store: b.Tables}
	require.NoError(t, a.RefuseSignal(t.Context(), activities.RefusedSignal{
		HostRef: activities.HostRef{ClusterID: c.ID}, Name: "cancle", Takes: []string{"cancel", "reset"},
	}))
	require.NoError(t, a.RefuseSignal(t.Context(), activities.RefusedSignal{
		HostRef: ref(h), Name: "retyr", Takes: []string{"retry", "evict"},
	}))
	page, err := b.Tables.Events(t.Context(), store.EventFilter{ClusterID: c.ID})
	require.NoError(t, err)
	said := map[string]*uuid.UUID{}
	for _, event := range page.Events {
		if event.Name == "command_refused" {
			_, reason, _ := strings.Cut(event.Message, "refused: ")
			said[reason] = event.HostID
		}
	}
	require.Equal(t, map[string]*uuid.UUID{
		`require one of cancel, reset, found "cancle"`: nil, `require one of retry, evict, found "retyr"`: &h.ID,
	}, said)
	err = a.RefuseSignal(t.Context(), activities.RefusedSignal{HostRef: activities.HostRef{ClusterID: uuid.New()}, Name: "cancle"})
	requireRefused(t, err)
}
