package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/agent/journal"
	"slipway/internal/wire"
)

func step(id string) wire.Step {
	return wire.Step{StepID: id, StepType: "inventory", Args: []string{"arg of " + id}}
}

func reply(id string) wire.StepReply {
	return wire.StepReply{StepID: id, StepType: "inventory", Output: "output of " + id}
}

// clock is a time that tests move.
type clock struct{ now time.Time }

func newClock() *clock                { return &clock{time.Unix(1_700_000_000, 0).UTC()} }
func (c *clock) Now() time.Time       { return c.now }
func (c *clock) pass(d time.Duration) { c.now = c.now.Add(d) }

func open(t *testing.T, dir string, c *clock) *journal.Journal {
	t.Helper()
	j, err := journal.Open(dir, c.Now)
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func start(t *testing.T, j *journal.Journal, id string, changes bool) bool {
	t.Helper()
	fresh, err := j.Start(step(id), changes)
	require.NoError(t, err)
	return fresh
}

func TestJournalKnowsAfterARestartHowFarStepsAre(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), newClock()
	first := open(t, dir, c)
	for _, id := range []string{"started", "finished", "waiting", "acknowledged", "followed", "closed"} {
		require.True(t, start(t, first, id, true))
	}
	require.NoError(t, first.Finish(reply("finished"), false))
	require.NoError(t, first.Finish(reply("waiting"), true))
	for _, id := range []string{"acknowledged", "followed"} {
		require.NoError(t, first.Finish(reply(id), true))
		require.NoError(t, first.Acknowledge(id))
	}
	require.NoError(t, first.Done("followed"))
	require.NoError(t, first.Finish(reply("closed"), false))
	require.NoError(t, first.Acknowledge("closed"))

	for range 3 { // opening makes the file small; that must not lose anything either
		j := open(t, dir, c)
		entries := j.Unclosed()
		require.Len(t, entries, 4)
		require.Equal(t, journal.Started, entries[0].State)
		require.Equal(t, []string{"arg of started"}, entries[0].Step.Args)
		require.Equal(t, journal.Finished, entries[1].State)
		require.Equal(t, reply("finished"), *entries[1].Reply)
		require.False(t, entries[1].FollowUp)
		require.True(t, entries[2].FollowUp)
		require.Equal(t, journal.Acknowledged, entries[3].State)
		require.Equal(t, []string{"arg of acknowledged"}, entries[3].Step.Args)
		for _, id := range []string{"started", "finished", "waiting", "acknowledged", "followed", "closed"} {
			require.False(t, start(t, j, id, true), "%s must not run again", id)
		}
	}
}

// A service whose database was restored from a backup asks for what it knew before.
func TestJournalKeepsTheAnswersOfStepsThatChangedTheHost(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), newClock()
	first := open(t, dir, c)
	for _, id := range []string{"write", "reboot", "long", "running"} {
		require.True(t, start(t, first, id, true))
	}
	require.True(t, start(t, first, "inventory", false))
	long := wire.StepReply{StepID: "long", ExitCode: 3, Error: "no space", Output: strings.Repeat("x", 5000)}
	for _, r := range []wire.StepReply{reply("write"), long, reply("inventory")} {
		require.NoError(t, first.Finish(r, false))
		_, known := first.Answer(r.StepID)
		require.False(t, known, "it is on its way")
		require.NoError(t, first.Acknowledge(r.StepID))
	}
	require.NoError(t, first.Finish(reply("reboot"), true))
	require.NoError(t, first.Acknowledge("reboot"))
	require.NoError(t, first.Done("reboot"))
	for range 3 { // opened again, it is written anew
		require.NoError(t, first.Close())
		first = open(t, dir, c)
		for _, want := range []wire.StepReply{reply("write"), reply("reboot"), {StepID: "long", ExitCode: 3, Error: "no space"}} {
			got, known := first.Answer(want.StepID)
			require.True(t, known, want.StepID)
			require.Equal(t, want, got)
		}
		for _, id := range []string{"running", "inventory", "unknown"} {
			_, known := first.Answer(id)
			require.False(t, known, id)
		}
	}
}

func TestJournalSurvivesATornWrite(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	j := open(t, whole, newClock())
	start(t, j, "a", true)
	require.NoError(t, j.Finish(reply("a"), false))
	start(t, j, "b", true)
	content, err := os.ReadFile(filepath.Join(whole, "steps.jsonl"))
	require.NoError(t, err)
	for length := range len(content) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "steps.jsonl"), content[:length], 0o600))
		torn := open(t, dir, newClock())
		begun := countWhole(content[:length])
		require.Len(t, torn.Unclosed(), begun)
		require.Equal(t, begun < 1, start(t, torn, "a", true))
		require.Equal(t, begun < 2, start(t, torn, "b", true))
	}
}

// countWhole counts the steps that began in whole lines.
func countWhole(content []byte) int {
	end := strings.LastIndexByte(string(content), '\n') + 1
	return strings.Count(string(content[:end]), `"state":"started"`)
}

func TestJournalForgetsOldStepsThatChangedNothing(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), newClock()
	j := open(t, dir, c)
	for id, changes := range map[string]bool{"inventory": false, "image": true} {
		start(t, j, id, changes)
		require.NoError(t, j.Finish(reply(id), false))
		require.NoError(t, j.Acknowledge(id))
	}
	start(t, j, "open", false)
	c.pass(25 * time.Hour)
	later := open(t, dir, c)
	require.True(t, start(t, later, "inventory", false))
	require.False(t, start(t, later, "image", true))
	require.False(t, start(t, later, "open", false))
}

func TestJournalStaysSmall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir, newClock())
	big := strings.Repeat("x", 32<<10)
	for n := range 300 {
		id := fmt.Sprintf("inventory-%08x", n)
		require.True(t, start(t, j, id, false))
		require.NoError(t, j.Finish(wire.StepReply{StepID: id, Output: big}, false))
		require.NoError(t, j.Acknowledge(id))
	}
	info, err := os.Stat(filepath.Join(dir, "steps.jsonl"))
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(2<<20))
	require.Empty(t, j.Unclosed())
}
