package netns_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The goals for an agent that has nothing to do.
const (
	maxMemoryMiB  = 12.0
	maxCPUPercent = 0.2 // of one core
)

// footprint measures the agents while nothing is asked of them.
func (b *bench) footprint(t *testing.T, window time.Duration) {
	t.Helper()
	b.rest(t)
	var memory, private, cpu, commands []float64
	own, others := b.cpuTimes(t)
	begun := time.Now()
	pause(t.Context(), window)
	ownAfter, othersAfter := b.cpuTimes(t)
	took := time.Since(begun)
	for i, h := range b.hosts {
		memory = append(memory, memoryMiB(h.agent.Process.Pid, "VmRSS:"))
		private = append(private, memoryMiB(h.agent.Process.Pid, "RssAnon:"))
		cpu = append(cpu, 100*float64(ownAfter[i]-own[i])/float64(took))
		commands = append(commands, 100*float64(othersAfter[i]-others[i])/float64(took))
	}
	t.Logf(
		"footprint: %d agents, %s: resident %s MiB (goal < %g), of which %s MiB are not pages of the program; CPU %s %% of a core each "+
			"(goal < %g); their commands %s %%",
		len(b.hosts),
		took.Round(time.Second),
		spread(memory),
		maxMemoryMiB,
		spread(private),
		spread(cpu),
		maxCPUPercent,
		spread(commands),
	)
	if median(memory) > maxMemoryMiB || median(cpu) > maxCPUPercent {
		t.Log("footprint: the goal is missed")
	}
}

// quiet reports whether no agent runs a command now.
func (b *bench) quiet(t *testing.T) bool {
	t.Helper()
	for _, h := range b.hosts {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", h.agent.Process.Pid))
		require.NoError(t, err)
		require.NotEmpty(t, tasks, "%s has no agent, or the kernel shows no children", h.name)
		for _, task := range tasks {
			children, _ := os.ReadFile(task) // the thread may be gone
			for child := range strings.FieldsSeq(string(children)) {
				// The host's clock daemon was there before the agent, and is its child as well.
				if name, _ := os.ReadFile("/proc/" + child + "/comm"); strings.TrimSpace(string(name)) != "chronyd" {
					return false
				}
			}
		}
	}
	return true
}

// rest waits until the agents have had nothing to do for a while.
func (b *bench) rest(t *testing.T) {
	t.Helper()
	const quietFor = 5 * time.Second
	since := time.Now()
	for deadline := since.Add(15 * time.Minute); time.Since(since) < quietFor; pause(t.Context(), 200*time.Millisecond) {
		if !b.quiet(t) {
			since = time.Now()
		}
		require.True(t, time.Now().Before(deadline), "the agents never came to rest")
	}
}

// cpuTimes returns the processor times of the agents, and of the commands they waited for, so far.
func (b *bench) cpuTimes(t *testing.T) (own, commands []time.Duration) {
	t.Helper()
	for _, h := range b.hosts {
		pid := h.agent.Process.Pid
		var spent unix.Timespec
		require.NoError(t, unix.ClockGettime(int32(^pid<<3|2), &spent)) // clock_getcpuclockid(3)
		own = append(own, time.Duration(spent.Nano()))
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		var ticks int64
		if len(fields) > 14 {
			user, _ := strconv.ParseInt(fields[13], 10, 64)
			system, _ := strconv.ParseInt(fields[14], 10, 64)
			ticks = user + system
		}
		commands = append(commands, time.Duration(ticks)*10*time.Millisecond) // sysconf(3), _SC_CLK_TCK
	}
	return own, commands
}

func memoryMiB(pid int, name string) float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, name); found {
			kib, _ := strconv.ParseFloat(strings.Fields(value)[0], 64)
			return kib / 1024
		}
	}
	return 0
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}

func spread(values []float64) string {
	return fmt.Sprintf("%.3g (%.3g to %.3g)", median(values), slices.Min(values), slices.Max(values))
}
