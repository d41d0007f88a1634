package e2e_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
)

var screenshots = flag.String("screenshots", "", "folder for pictures of Temporal's web UI; none are taken without it")

// browser is Chromium on the fleet's Temporal UI, worked by test/temporal/ui.mjs.
type browser struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// browse starts the browser. The test is skipped where make has none.
func (f *fleet) browse(t *testing.T) *browser {
	t.Helper()
	cmd := exec.Command("node", "../temporal/ui.mjs", f.url)
	cmd.Env = append(cmd.Environ(), "SLIPWAY_TOKEN="+built.Admin(t, f.dataDir).Token)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close() // the program ends with its input
		late := time.AfterFunc(20*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		_ = cmd.Wait()
		late.Stop()
	})
	return &browser{in: in, out: bufio.NewReader(out)}
}

func needBrowser(t *testing.T) {
	t.Helper()
	if os.Getenv("CHROMIUM") == "" || os.Getenv("PLAYWRIGHT") == "" {
		t.Skip("SKIP: this test needs Chromium and Playwright (make test-temporal)")
	}
}

// do runs one action of the program and returns what it shows then.
func (b *browser) do(t *testing.T, action string, arguments ...string) string {
	t.Helper()
	command := map[string]string{"do": action}
	for i := 0; i < len(arguments); i += 2 {
		command[arguments[i]] = arguments[i+1]
	}
	line, err := json.Marshal(command)
	require.NoError(t, err)
	_, err = b.in.Write(append(line, '\n'))
	require.NoError(t, err)
	answer, err := b.out.ReadBytes('\n')
	require.NoError(t, err, "the program of the browser has ended")
	var said struct{ Text, Error string }
	require.NoError(t, json.Unmarshal(answer, &said), string(answer))
	require.Empty(t, said.Error, "%s %q, on a page with\n%s", action, arguments, said.Text)
	return said.Text
}

// on opens a workflow from the list and presses a button of its page.
func (b *browser) on(t *testing.T, workflow, button string) {
	t.Helper()
	b.do(t, "open", "workflow", workflow)
	require.Empty(t, b.do(t, button), "%s of %s is refused", button, workflow)
}

func (b *browser) screenshot(t *testing.T, name string) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	require.NoError(t, os.MkdirAll(*screenshots, 0o755))
	b.do(t, "shot", "path", filepath.Join(*screenshots, name+".png"))
}

// uiShape is installed in a minute; a host waits for the control plane for some seconds of it.
var uiShape = shape{masters: 3, workers: 2, speed: 200}

// atTheGate installs until worker-1 waits for the control plane, and pauses: hosts wait there until a browser has pressed its buttons.
func atTheGate(t *testing.T) (*fleet, *browser) {
	t.Helper()
	f := newFleet(t)
	f.define(t, uiShape)
	f.discover(t, uiShape)
	b := f.browse(t)
	f.install(t)
	f.await(t, "worker-1 to wait for the control plane", stageOf("worker-1", wire.HostStageWaitingForControlPlane))
	require.NoError(t, f.client.PauseCluster(t.Context(), f.id))
	return f, b
}

// resume resumes the installation, also when its workflow was ended a moment ago: another one replaces it, which is paused as well.
func (f *fleet) resume(t *testing.T) {
	t.Helper()
	await.True(t, func() bool { return f.client.ResumeCluster(t.Context(), f.id) == nil }, "the installation cannot be resumed")
}

// written compares the disks written with the commands: never one without a command, and at most as many as expected of a host, or one.
func (f *fleet) written(t *testing.T, more map[string]int) {
	t.Helper()
	for name, a := range f.accounts(t) {
		t.Logf("%s: %d writes for %d commands", name, a.writes, a.commanded["image-write"])
		require.LessOrEqual(t, a.writes, a.commanded["image-write"], "%s was written more often than commanded", name)
		require.LessOrEqual(t, a.commanded["image-write"], max(1, more[name]), name)
		require.GreaterOrEqual(t, a.finished, 1, "%s was never written", name)
	}
}

// A person finds the installation and the host that failed, reads why, and presses Update retry.
func TestTemporalUIRetriesAFailedHost(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	f := newFleet(t)
	s := uiShape
	s.flags = map[string][]string{"worker-1": {"--fail", "image-write"}}
	f.define(t, s)
	f.discover(t, s)
	b := f.browse(t)
	f.install(t)
	f.awaitDecision(t, "worker-1")
	rows := b.do(t, "list", "query", `ExecutionStatus="Running" AND ClusterName="e2e"`)
	require.Contains(t, rows, f.clusterWorkflow())
	require.Equal(t, "Status, State, Type, ClusterName, HostName, WaitingFor, Start, End, Workflow ID", b.do(t, "columns"))
	require.Regexp(t, `(?i)running\s+waiting-for-decision\s+HostInstall\s+e2e\s+worker-1\s+retry, retry-step or evict\s`, rows)
	b.screenshot(t, "list")
	b.do(t, "removeColumn", "name", "End")
	b.do(t, "list", "query", `ExecutionStatus="Running" AND ClusterName="e2e"`)
	require.Equal(t, "Status, State, Type, ClusterName, HostName, WaitingFor, Start, Workflow ID", b.do(t, "columns"),
		"what the user chose stays")
	b.do(t, "open", "workflow", f.clusterWorkflow())
	require.Regexp(t, `\w \| e2e$`, b.do(t, "title", "text", "| e2e"), "no id in the tab")
	b.screenshot(t, "cluster")
	workflow := hostWorkflow(f.host(t, "worker-1"))
	b.do(t, "open", "workflow", workflow)
	require.Regexp(t, `\w \| worker-1 in e2e$`, b.do(t, "title", "text", "| worker-1"))
	b.screenshot(t, "host-that-waits")
	require.Contains(t, b.do(t, "details", "text", "retry-step"), "coreos-installer", "why it failed, beside what to press")
	b.screenshot(t, "host-that-waits-details")
	shown := b.do(t, "query", "name", "state")
	b.screenshot(t, "host-that-waits-state")
	require.Contains(t, shown, "waiting-for-decision")
	require.Contains(t, shown, "coreos-installer", "why it failed")
	// A browser may take longer for its second dialog than the host for the rest of its installation: the host waits for it.
	require.NoError(t, f.client.PauseCluster(t.Context(), f.id))
	require.Empty(t, b.do(t, "update", "name", "retry"))
	refusal := []string{"name", "retry"}
	if *screenshots != "" {
		refusal = append(refusal, "path", filepath.Join(*screenshots, "update-refused.png"))
	}
	require.Contains(t, b.do(t, "update", refusal...), "the host does not wait for a decision: it is", "a retried host")
	require.NoError(t, f.client.ResumeCluster(t.Context(), f.id))
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	b.do(t, "open", "workflow", workflow)
	b.screenshot(t, "host-installed")
	b.do(t, "open", "workflow", f.clusterWorkflow())
	b.screenshot(t, "cluster-installed")
	f.written(t, map[string]int{"worker-1": 2})
}

// Reset to the first task, of a host and of the cluster, while they run and when they have ended.
func TestTemporalUIResetsWhatRunsAndWhatHasEnded(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	f, b := atTheGate(t)
	b.on(t, hostWorkflow(f.host(t, "worker-1")), "reset")
	b.on(t, f.clusterWorkflow(), "reset")
	f.resume(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.written(t, nil)
	before, _ := f.steps(t)
	for _, name := range []string{"master-0", "worker-1"} {
		b.on(t, hostWorkflow(f.host(t, name)), "reset")
	}
	b.on(t, f.clusterWorkflow(), "reset")
	require.Never(t, func() bool { all, open := f.steps(t); return all != before || open > 0 }, 5*time.Second, 200*time.Millisecond,
		"an installed host is asked for something")
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.written(t, nil)
}

// Terminate and Request Cancellation of hosts, each retried by an Update in the UI, and Terminate of the cluster.
func TestTemporalUITerminatesAndCancelsHosts(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	f, b := atTheGate(t)
	ended := map[string]string{"worker-0": "terminated", "worker-1": "cancelled"}
	b.on(t, hostWorkflow(f.host(t, "worker-0")), "terminate")
	b.on(t, hostWorkflow(f.host(t, "worker-1")), "cancel")
	for name, how := range ended {
		f.await(t, name+" to wait for a decision", func(*wire.Cluster) bool {
			return strings.Contains(f.host(t, name).StatusInfo, "its workflow was "+how+" in Temporal")
		})
		require.Regexp(t, `slipway host retry(-step)? `+name, f.typed(t, "cluster", "show", "e2e", "--url", f.url))
		workflow := hostWorkflow(f.host(t, name))
		b.do(t, "open", "workflow", workflow)
		require.Contains(t, b.do(t, "query", "name", "state"), "its workflow was "+how+" in Temporal")
		require.Empty(t, b.do(t, "update", "name", "retry-step"))
	}
	b.on(t, f.clusterWorkflow(), "terminate")
	f.resume(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.written(t, map[string]int{"worker-0": 2, "worker-1": 2})
}

// Request Cancellation of the cluster cancels the installation; what the service then advises leads to another one.
func TestTemporalUICancelsACluster(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	f := newFleet(t)
	// Hosts write their disks for 48 s: one that has rebooted from its disk would wait for somebody to boot it again.
	s := shape{masters: 3, workers: 2, speed: 5}
	f.define(t, s)
	f.discover(t, s)
	b := f.browse(t)
	f.install(t)
	f.await(t, "a host that writes its disk", writesADisk)
	b.on(t, f.clusterWorkflow(), "cancel")
	f.awaitStatus(t, wire.ClusterStatusCancelled)
	shown := f.typed(t, "cluster", "show", "e2e", "--url", f.url)
	command := regexp.MustCompile(`slipway (cluster reset .*)\n`).FindStringSubmatch(shown)
	require.NotNil(t, command, "no command leads on:\n%s", shown)
	names := f.names(t)
	f.typed(t, strings.Fields(command[1])...)
	f.bootAgain(t, names) // a bootstrap host that had begun its bootstrap when the button was pressed
	f.awaitStatus(t, wire.ClusterStatusReady)
	for name, a := range f.accounts(t) {
		require.LessOrEqual(t, a.writes, a.commanded["image-write"], name)
	}
}
