package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// usage is processor time since the processes began.
type usage struct{ service, database time.Duration }

func (u usage) total() time.Duration { return u.service + u.database }

func (u usage) since(before usage) usage {
	return usage{u.service - before.service, u.database - before.database}
}

// tick is the unit of times in /proc/PID/stat, see sysconf(3), _SC_CLK_TCK.
const tick = 10 * time.Millisecond

// usage reads what the service and its database have used.
func (s *service) usage() usage {
	s.tb.Helper()
	var u usage
	u.service = cpuTime(s.command.Process.Pid)
	postmaster := s.postmaster()
	u.database = cpuTime(postmaster) + childrenWaitedFor(postmaster)
	for _, pid := range children(postmaster) {
		u.database += cpuTime(pid)
	}
	return u
}

// cpuTime reads the processor time of all threads of a process, also ended ones: clock_getcpuclockid(3). A process that has ended has
// none.
func cpuTime(pid int) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// postmaster returns the process id of the database, the parent of all its processes.
func (s *service) postmaster() int {
	s.tb.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "postgres", "postmaster.pid"))
	require.NoError(s.tb, err)
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	require.NoError(s.tb, err)
	return pid
}

// statFields returns the fields of /proc/PID/stat from the third on: the second may hold spaces.
func statFields(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

func children(parent int) (pids []int) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, entry := range entries {
		pid, err := strconv.Atoi(filepath.Base(entry))
		if fields := statFields(pid); err == nil && len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// childrenWaitedFor returns the processor time of children that have ended.
func childrenWaitedFor(pid int) time.Duration {
	fields := statFields(pid)
	if len(fields) < 15 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[13], 10, 64)
	system, _ := strconv.ParseInt(fields[14], 10, 64)
	return time.Duration(user+system) * tick
}

// residentMB returns the memory of the service in use, without its database, in 10^6 bytes; peakMB its maximum.
func (s *service) residentMB() float64 { return s.memoryMB("VmRSS:") }
func (s *service) peakMB() float64     { return s.memoryMB("VmHWM:") }

// forgetPeak makes peakMB the maximum from now on: proc_pid_clear_refs(5).
func (s *service) forgetPeak() {
	s.tb.Helper()
	require.NoError(s.tb, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.command.Process.Pid), []byte("5"), 0))
}

func (s *service) memoryMB(name string) float64 {
	s.tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid))
	require.NoError(s.tb, err)
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			kib, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			require.NoError(s.tb, err)
			return kib * 1024 / 1e6
		}
	}
	require.Fail(s.tb, "no "+name)
	return 0
}

// microseconds converts a duration for metrics.
func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
