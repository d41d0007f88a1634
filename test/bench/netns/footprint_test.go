package netns_test

import (
	"fmt"
	"os"
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
	require.Eventually(t, b.quiet, 15*time.Minute, time.Second, "the agents never came to rest")
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
	t.Logf("footprint: %d agents, %s: resident %s MiB (goal < %g), of which not shared %s MiB; CPU %s %% of a core each (goal < %g); their commands %s %%",
		len(b.hosts), took.Round(time.Second), spread(memory), maxMemoryMiB, spread(private), spread(cpu), maxCPUPercent, spread(commands))
	if median(memory) > maxMemoryMiB || median(cpu) > maxCPUPercent {
		t.Log("footprint: the goal is missed")
	}
}

// quiet reports whether no agent runs a command, nor did for a few looks.
func (b *bench) quiet() bool {
	for range 5 {
		for _, h := range b.hosts {
			pid := h.agent.Process.Pid
			content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
			if len(strings.Fields(string(content))) > 1 || b.runs(pid) {
				return false
			}
		}
		time.Sleep(time.Second)
	}
	return true
}

// runs reports whether an agent has children besides the host's clock daemon.
func (b *bench) runs(pid int) bool {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		for _, child := range strings.Fields(string(content)) {
			name, _ := os.ReadFile("/proc/" + child + "/comm")
			if strings.TrimSpace(string(name)) != "chronyd" {
				return true
			}
		}
	}
	return false
}

// cpuTimes are those of the agents, and of the commands they waited for, so far.
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
