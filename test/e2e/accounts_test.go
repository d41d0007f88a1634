package e2e_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/sim"
	"slipway/internal/wire"
)

// account compares a machine's own log with the service's records of it.
type account struct {
	host      *wire.Host
	rows      []model.PendingActivity // steps the workflow asked for
	commanded map[string]int          // steps handed out, by type
	received  map[string]bool         // ids of workflow steps that reached the machine
	writes    int                     // image writes that began
	finished  int                     // image writes that ended
}

// accounts reads both sides for every host.
func (f *fleet) accounts(t *testing.T) map[string]*account {
	t.Helper()
	rows, err := f.store.PendingActivities(t.Context(), f.id)
	require.NoError(t, err)
	all := map[string]*account{}
	for name := range f.machines {
		a := &account{host: f.host(t, name), commanded: map[string]int{}, received: map[string]bool{}}
		ids := map[string]bool{}
		for _, row := range rows {
			if row.HostID == nil || *row.HostID != a.host.ID || row.Kind != model.ActivityStep {
				continue
			}
			a.rows = append(a.rows, row)
			ids[row.ID] = true
			if !row.SentAt.IsZero() {
				a.commanded[row.Type]++
			}
		}
		for _, e := range journal(t, filepath.Join(f.machineDir(name), sim.LogFile)) {
			switch e.Event {
			case sim.EventStepReceived:
				if ids[e.StepID] {
					a.received[e.StepID] = true
				}
			case sim.EventWriteStarted:
				a.writes++
			case sim.EventWriteFinished:
				a.finished++
			}
		}
		all[name] = a
	}
	return all
}

// nothingLost holds both sides against each other after an installation that ended
// well. exact says that no agent was killed, so that every command was one write.
func (f *fleet) nothingLost(t *testing.T, exact bool) {
	t.Helper()
	rows, err := f.store.PendingActivities(t.Context(), f.id)
	require.NoError(t, err)
	seen := map[string]uuid.UUID{}
	for _, row := range rows {
		require.Contains(
			t,
			[]model.ActivityState{model.ActivityDone, model.ActivitySuperseded},
			row.State,
			"pending activity %s is left over",
			row.ID,
		)
		require.NotContains(t, seen, row.ID)
		seen[row.ID] = row.ClusterID
	}
	for name, a := range f.accounts(t) {
		writes := a.commanded["image-write"] + a.commanded["install"]
		require.GreaterOrEqual(t, a.finished, 1, "%s was never written", name)
		require.LessOrEqual(t, a.writes, writes, "%s was written more often than commanded", name)
		if exact {
			require.Equal(t, 1, writes, "%s was commanded to write more than once", name)
			require.Equal(t, 1, a.writes, "%s was not written exactly once", name)
		}
		for _, row := range a.rows {
			if row.State == model.ActivityDone && row.ExitCode == 0 {
				require.True(t, a.received[row.ID], "%s: step %s is done, but the machine's log does not have it", name, row.ID)
			}
		}
	}
}

func journal(t *testing.T, path string) []sim.Entry {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	var list []sim.Entry
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e sim.Entry
		if json.Unmarshal(lines.Bytes(), &e) == nil { // a kill may cut the last line
			list = append(list, e)
		}
	}
	require.NoError(t, lines.Err())
	return list
}
