package bench_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// abuseRow has the measurements beside a crowd.
type abuseRow struct {
	name       string
	report     crowdReport
	unexpected []string
	polls      polls
	// serviceMB and databaseMB are the most memory meanwhile.
	serviceMB, databaseMB float64
	buffersMB             float64       // of all TCP connections of the machine, in the kernel
	again                 time.Duration // until the service used no more processor time than before
	share, others, stolen float64       // percent of one core: of the service with its database, of other programs, of other machines
}

// quietness is how hosts are answered without a crowd.
type quietness struct {
	polls polls
	p99   []float64 // ms, of each quiet time
	share []float64 // percent of one core, of each quiet time
}

// quieten measures a quiet time.
func (a *abuse) quieten() {
	a.tb.Helper()
	a.asking.take()
	used := a.measureUsage(func() { time.Sleep(a.window / 2) })
	seen := a.asking.take()
	a.quiet.polls.add(seen)
	a.quiet.share = append(a.quiet.share, used.share())
	if len(seen.took) > 0 {
		a.quiet.p99 = append(a.quiet.p99, milliseconds(percentile(seen.took, 99)))
	}
}

// measureUsage returns what the service used while something was done.
func (a *abuse) measureUsage(do func()) effort {
	before, begun := a.usage(), time.Now()
	do()
	return effort{used: a.usage().since(before), took: time.Since(begun)}
}

// against lets a crowd loose and measures meanwhile.
func (a *abuse) against(trial crowdTrial) (row abuseRow) {
	a.tb.Helper()
	row.name = trial.name
	a.forgetPeak()
	a.asking.take()
	machineBefore, ownBefore := readMachine(a.tb), cpuTime(os.Getpid())
	var crowdUsed time.Duration
	used := a.measureUsage(func() {
		row.report, crowdUsed = a.letLoose(trial, func() {
			row.databaseMB, row.buffersMB = max(row.databaseMB, a.databaseMB()), max(row.buffersMB, buffersMB(a.tb))
		})
	})
	machine := readMachine(a.tb).since(machineBefore)
	row.share = used.share()
	ours := used.used.total() + crowdUsed + cpuTime(os.Getpid()) - ownBefore
	row.others = max(0, percent(machine.busy-ours, used.took))
	row.stolen = percent(machine.stolen, used.took)
	row.again = a.untilQuiet()
	row.polls = a.asking.take()
	row.serviceMB, row.databaseMB = a.peakMB(), max(row.databaseMB, a.databaseMB())
	row.unexpected = trial.unexpected(row.report.Answers)
	return row
}

func percent(d, of time.Duration) float64 { return 100 * float64(d) / float64(of) }

// letLoose runs a crowd in a process of its own, on one processor and with the lowest priority, bounded in time and memory.
func (a *abuse) letLoose(trial crowdTrial, meanwhile func()) (report crowdReport, used time.Duration) {
	a.tb.Helper()
	order := a.order
	order.Kinds = trial.kinds
	if len(trial.kinds) > 1 {
		order.Share *= 2
	}
	text, err := json.Marshal(order)
	require.NoError(a.tb, err)
	limit := strconv.Itoa(int((a.window + time.Minute) / time.Second))
	cmd := bounded(8<<20, []string{"timeout", limit, "nice", "-n", "19", os.Args[0]})
	cmd.Env = append(os.Environ(), crowdEnv+"=1", "GOMAXPROCS=1", "GOMEMLIMIT=1GiB")
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, os.Stderr
	require.NoError(a.tb, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			require.NoError(a.tb, err, "the crowd")
			require.NoError(a.tb, json.Unmarshal(out.Bytes(), &report))
			return report, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		case <-time.After(2 * time.Second):
			meanwhile()
		}
	}
}

// untilQuiet waits until the service uses hardly more processor time in a second than in quiet times.
func (a *abuse) untilQuiet() time.Duration {
	if len(a.quiet.share) == 0 {
		return 0
	}
	begun := time.Now()
	usual := slices.Max(a.quiet.share)
	for time.Since(begun) < time.Minute {
		used := a.measureUsage(func() { time.Sleep(time.Second) })
		if used.share() <= 1.25*usual+5 {
			return time.Since(begun) - time.Second
		}
	}
	return time.Since(begun)
}

// forgetPeak makes the kernel count the most memory of the service anew: proc_pid_clear_refs(5).
func (a *abuse) forgetPeak() {
	a.tb.Helper()
	require.NoError(a.tb, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", a.command.Process.Pid), []byte("5"), 0))
}

// databaseMB returns the memory of PostgreSQL, where pages that its processes share count once.
func (a *abuse) databaseMB() (sum float64) {
	for _, pid := range append(children(a.postmaster()), a.postmaster()) {
		text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "smaps_rollup")) // a process may have ended
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(line, "Pss:"); ok {
				kib, _ := strconv.ParseFloat(strings.Fields(value)[0], 64)
				sum += kib * 1024 / 1e6
			}
		}
	}
	return sum
}

// buffersMB returns the memory of buffers of TCP connections.
func buffersMB(tb testing.TB) float64 {
	tb.Helper()
	text, err := os.ReadFile("/proc/net/sockstat")
	require.NoError(tb, err)
	_, rest, found := strings.Cut(string(text), "TCP: ")
	_, pages, _ := strings.Cut(rest, " mem ")
	pages, _, _ = strings.Cut(pages, "\n")
	n, err := strconv.Atoi(pages)
	require.True(tb, found && err == nil, "%s", text)
	return float64(n*os.Getpagesize()) / 1e6
}

// machineTime is processor time of all of the machine: proc_stat(5).
type machineTime struct{ busy, stolen time.Duration }

func (m machineTime) since(before machineTime) machineTime {
	return machineTime{m.busy - before.busy, m.stolen - before.stolen}
}

func readMachine(tb testing.TB) machineTime {
	tb.Helper()
	text, err := os.ReadFile("/proc/stat")
	require.NoError(tb, err)
	first, _, _ := strings.Cut(string(text), "\n")
	var ticks []time.Duration
	for _, field := range strings.Fields(first)[1:] {
		n, _ := strconv.ParseInt(field, 10, 64)
		ticks = append(ticks, time.Duration(n)*tick)
	}
	require.Greater(tb, len(ticks), 7)
	// user, nice, system, idle, iowait, irq, softirq, steal
	return machineTime{ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6], ticks[7]}
}

// print writes the table, with the goals in its head.
func (a *abuse) print(w io.Writer) {
	quiet := milliseconds(percentile(a.quiet.polls.took, 99))
	fmt.Fprintf(w, "\n%d hosts on %d processors that everything here shares; each has a poll held for %d s, and asks once more at once.\n",
		a.hosts, runtime.NumCPU(), abuseHold)
	fmt.Fprintf(w, "Quiet: %d polls, p50 %.1f ms, p99 %.1f ms (%.1f to %.1f in %d quiet times), %d lost; %.0f %% of a core.\n\n",
		len(a.quiet.polls.took), milliseconds(percentile(a.quiet.polls.took, 50)), quiet, slices.Min(a.quiet.p99), slices.Max(a.quiet.p99),
		len(a.quiet.p99), a.quiet.polls.lostInAll(), middle(a.quiet.share, func(v float64) float64 { return v }))
	fmt.Fprintf(w, "| crowd of %s | requests | answers | polls | p50, p99 (ms) | p99 / quiet (goal %.1f) | held polls late by, p99 (ms) "+
		"| lost (goal 0) | service, MB (goal %d) | PostgreSQL, buffers of TCP, MB | quiet again after (s) "+
		"| %% of a core: service, others, stolen |\n",
		a.window, abuseRatio, abuseMemoryMB)
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range a.rows {
		late := "none idle"
		if len(r.polls.late) > 0 {
			late = fmt.Sprintf("%.0f", milliseconds(percentile(r.polls.late, 99)))
		}
		p99 := milliseconds(percentile(r.polls.took, 99))
		fmt.Fprintf(w, "| %s | %d | %s | %d | %.1f, %.1f | %.1f | %s | %d | %.0f | %.0f, %.0f | %.0f | %.0f, %.0f, %.0f |\n",
			r.name, r.report.Sent, r.answers(), len(r.polls.took), milliseconds(percentile(r.polls.took, 50)), p99, p99/quiet, late,
			r.polls.lostInAll(), r.serviceMB, r.databaseMB, r.buffersMB, r.again.Seconds(), r.share, r.others, r.stolen)
		for _, what := range r.unexpected {
			fmt.Fprintf(w, "unexpected: %s: %s\n", r.name, what)
		}
		for what, n := range r.polls.lost {
			fmt.Fprintf(w, "lost beside %s: %d times %s\n", r.name, n, what)
		}
	}
}
