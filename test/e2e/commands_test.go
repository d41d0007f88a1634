package e2e_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// steps counts the steps asked of hosts so far, and how many of them are still open.
func (f *fleet) steps(t *testing.T) (all, open int) {
	t.Helper()
	rows, err := f.store.PendingActivities(t.Context(), f.id)
	require.NoError(t, err)
	for _, row := range rows {
		if row.Kind != model.ActivityStep {
			continue
		}
		all++
		if row.State != model.ActivityDone && row.State != model.ActivitySuperseded {
			open++
		}
	}
	return all, open
}

// awaitDecision waits until the workflow of a host waits for a command.
func (f *fleet) awaitDecision(t *testing.T, name string) *wire.Host {
	t.Helper()
	f.await(t, name+" to wait for a decision", func(*wire.Cluster) bool {
		host := f.host(t, name)
		state, err := f.client.Workflow(t.Context(), f.id)
		if err != nil {
			return false
		}
		for _, h := range state.Hosts {
			if h.HostID == host.ID && h.State == wire.WorkflowWaiting {
				require.Contains(t, h.Reason, "Writing image to disk")
				return true
			}
		}
		return false
	})
	return f.host(t, name)
}

// command makes a command of the program, by the administrator of this service.
func (f *fleet) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), f.program, args...)
	cmd.Env = append(cmd.Environ(), "SLIPWAY_DATA_DIR="+f.dataDir)
	return cmd
}

// typed returns the output for a user who types a command.
func (f *fleet) typed(t *testing.T, args ...string) string {
	t.Helper()
	out, err := f.command(t, args...).CombinedOutput()
	require.NoError(t, err, "slipway %s\n%s", strings.Join(args, " "), out)
	return string(out)
}

// try runs a command of the program, and reports whether it succeeded.
func (f *fleet) try(t *testing.T, args ...string) bool {
	t.Helper()
	return f.command(t, args...).Run() == nil
}

// refused runs a command of the program that fails, and returns what it printed.
func (f *fleet) refused(t *testing.T, args ...string) string {
	t.Helper()
	out, err := f.command(t, args...).CombinedOutput()
	require.Error(t, err, "slipway %s\n%s", strings.Join(args, " "), out)
	return string(out)
}

func TestPausedInstallationStartsNothingUntilItIsResumed(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := shape{masters: 3, workers: 2, speed: 200}
	f.define(t, s)
	f.discover(t, s)
	require.ErrorIs(t, f.client.PauseCluster(t.Context(), f.id), model.ErrConflict, "there is no installation yet")
	_, err := f.client.Workflow(t.Context(), f.id)
	require.ErrorIs(t, err, model.ErrNotFound)
	f.install(t)
	f.await(t, "a host that writes its disk", func(c *wire.Cluster) bool {
		for i := range c.Hosts {
			if c.Hosts[i].Progress.CurrentStage == wire.HostStageWritingImageToDisk {
				return true
			}
		}
		return false
	})
	require.NoError(t, f.client.PauseCluster(t.Context(), f.id))
	require.ErrorIs(t, f.client.PauseCluster(t.Context(), f.id), model.ErrConflict, "it is paused already")
	last := -1
	f.await(t, "hosts to finish their stage", func(*wire.Cluster) bool {
		all, open := f.steps(t)
		quiet := open == 0 && all == last
		last = all
		return quiet
	})
	require.Never(t, func() bool { all, _ := f.steps(t); return all != last }, 3*time.Second, 100*time.Millisecond,
		"a paused host started another stage")
	state, err := f.client.Workflow(t.Context(), f.id)
	require.NoError(t, err)
	require.True(t, state.Paused)
	require.Equal(t, "installing", state.Phase)
	require.Len(t, state.Hosts, 5)

	require.NoError(t, f.client.ResumeCluster(t.Context(), f.id))
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
	all, _ := f.steps(t)
	require.Greater(t, all, last, "nothing was left to be held up")
	f.record(t, "pause")
}

func TestFailedStepIsRetriedAlone(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := fast
	s.flags = map[string][]string{"worker-1": {"--fail", "image-write"}}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.awaitDecision(t, "worker-1")
	other := f.host(t, "master-1")
	require.ErrorIs(t, f.client.EvictHost(t.Context(), other.InfraEnvID, other.ID), model.ErrConflict, "it did not fail")
	shown := f.typed(t, "cluster", "show", "e2e", "--url", f.url)
	command := regexp.MustCompile(`slipway (host retry-step .*)\n`).FindStringSubmatch(shown)
	require.NotNil(t, command, "no command to type in:\n%s", shown)
	f.typed(t, strings.Fields(command[1])...)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	for name, a := range f.accounts(t) {
		writes := 1
		if name == "worker-1" {
			writes = 2
		}
		require.Equal(t, 1, a.commanded["disk-clean"], name)
		require.Equal(t, writes, a.commanded["image-write"], name)
		require.Equal(t, wire.HostStatusInstalled, a.host.Status, name)
	}
	f.record(t, "retry-step")
}

func TestClusterIsInstalledWithoutAnEvictedHost(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := shape{masters: 3, workers: 3, flags: map[string][]string{"worker-2": {"--fail", "image-write"}}}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	failed := f.awaitDecision(t, "worker-2")
	require.NoError(t, f.client.EvictHost(t.Context(), failed.InfraEnvID, failed.ID))
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	for name, a := range f.accounts(t) {
		status := wire.HostStatusInstalled
		if name == "worker-2" {
			status = wire.HostStatusError
		}
		require.Equal(t, status, a.host.Status, name)
		require.Equal(t, 1, a.commanded["image-write"], name)
	}
	f.record(t, "evict")
}
