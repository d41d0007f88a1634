package e2e_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
)

// lines are the blocks of docs/temporal.md, "From the command line".
type lines struct {
	bundled, external string // what names the server, the cluster and a host, for both kinds of server
	commands          []string
	used              map[string]bool
}

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

func documentedLines(t *testing.T) *lines {
	t.Helper()
	page, err := os.ReadFile("../../docs/temporal.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## From the command line\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := shellBlock.FindAllStringSubmatch(section, -1)
	require.Greater(t, len(blocks), 2)
	l := &lines{bundled: blocks[0][1], external: blocks[0][1] + blocks[1][1], used: map[string]bool{}}
	for _, block := range blocks[2:] {
		for line := range strings.Lines(block[1]) {
			l.commands = append(l.commands, strings.TrimSpace(line))
		}
	}
	return l
}

// line returns the shell's command for the one line of the page that has all of the given phrases, for the host that the variable host
// names.
func (l *lines) line(ts *testscript.TestScript, before string, phrases []string) string {
	var found []string
	for _, line := range l.commands {
		if contains(line, phrases) {
			found = append(found, line)
		}
	}
	if len(found) != 1 {
		ts.Fatalf("require one documented line with %q, found %q", phrases, found)
	}
	l.used[found[0]] = true
	return strings.ReplaceAll(before, "worker-1", ts.Getenv("host")) + strings.ReplaceAll(found[0], "'lab'", "'e2e'")
}

// contains reports whether a line has every one of the phrases, each as whole words.
func contains(line string, phrases []string) bool {
	line = " " + strings.NewReplacer(`"`, " ", "'", " ", ":", " ").Replace(line) + " "
	for _, phrase := range phrases {
		if !strings.Contains(line, " "+phrase+" ") {
			return false
		}
	}
	return true
}

// commandsOf returns the commands of the scripts, beside testscript's own:
//
//	documented PHRASE...                the documented line with these phrases; with ! it has to fail
//	await PATTERN documented PHRASE...  the same, until it prints what the pattern matches
//	await PATTERN exec LINE             another line of the shell
//
// runScript adds boot-again, which boots the hosts that a reset waits for.
func (l *lines) commandsOf(t *testing.T, before string) map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"documented": func(ts *testscript.TestScript, neg bool, phrases []string) {
			line := l.line(ts, before, phrases)
			err := ts.Exec("sh", "-euc", line)
			// A server without processor time refuses what it could queue (consts.ErrWorkflowBusy of its history service).
			for err != nil && strings.Contains(ts.ReadFile("stderr"), "Workflow is busy") {
				err = ts.Exec("sh", "-euc", line)
			}
			if (err != nil) != neg {
				ts.Fatalf("documented line with %q: %v", phrases, err)
			}
		},
		"await": func(ts *testscript.TestScript, _ bool, args []string) {
			pattern, text := regexp.MustCompile(args[0]), strings.Join(args[2:], " ")
			if args[1] == "documented" {
				text = l.line(ts, before, args[2:])
			}
			var out []byte
			for watch := await.Begin(t); !watch.Over(); time.Sleep(100 * time.Millisecond) {
				cmd := exec.Command("sh", "-euc", text)
				cmd.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"), "SLIPWAY_DATA_DIR="+ts.Getenv("SLIPWAY_DATA_DIR"), "HOME=/no-home")
				if out, _ = cmd.Output(); pattern.Match(out) {
					ts.Logf("%s", pattern.Find(out))
					return
				}
			}
			ts.Fatalf("%s never prints %s, but\n%s", text, args[0], out)
		},
	}
}

// temporalCLI returns the program that make builds; the test is skipped without one.
func temporalCLI(t *testing.T) string {
	t.Helper()
	path := os.Getenv("TEMPORAL_CLI")
	if path == "" {
		t.Skip("SKIP: this test needs the temporal program (make test-temporal)")
	}
	return path
}

// runScript runs a testscript of testdata against the fleet with the lines of the page; before begins each of them.
func (f *fleet) runScript(t *testing.T, l *lines, before, script string) {
	t.Helper()
	path := filepath.Dir(temporalCLI(t)) + string(os.PathListSeparator) + filepath.Dir(f.program)
	commands, names := l.commandsOf(t, before), f.names(t)
	commands["boot-again"] = func(*testscript.TestScript, bool, []string) { f.bootAgain(t, names) }
	t.Run("script", func(t *testing.T) { // waits for the scripts, which are run in parallel
		testscript.Run(t, testscript.Params{
			Files: []string{filepath.Join("testdata", script)},
			Cmds:  commands,
			Setup: func(env *testscript.Env) error {
				env.Setenv("PATH", path+string(os.PathListSeparator)+os.Getenv("PATH"))
				env.Setenv("SLIPWAY_DATA_DIR", f.dataDir)
				env.Setenv("host", "worker-1")
				return nil
			},
			Deadline: time.Now().Add(await.Limit(t)),
		})
	})
}

// here replaces the names and places of the page by the fleet's.
func (f *fleet) here(text string) string {
	return strings.NewReplacer("/var/lib/slipway", f.dataDir, "https://127.0.0.1:8090", f.url, " lab ", " e2e ").Replace(text)
}

// The scripts begin the installation by slipway, and command it by documented lines alone. Each line of the page is run by
// one of them.
func TestTemporalCommandLine(t *testing.T) {
	t.Parallel()
	temporalCLI(t)
	l := documentedLines(t)
	scripts := 0
	t.Run("of an installation to its end", func(t *testing.T) {
		scripts++
		f := newFleet(t)
		s := shape{masters: 3, workers: 3, speed: 200, flags: map[string][]string{
			"worker-1": {"--fail", "image-write:5"}, "worker-2": {"--fail", "image-write:9"},
		}}
		f.define(t, s)
		f.discover(t, s)
		f.runScript(t, l, f.here(l.bundled), "temporal.txtar")
		require.False(t, t.Failed())
		f.awaitStatus(t, wire.ClusterStatusInstalled)
		for name, writes := range map[string]int{"master-0": 1, "master-1": 1, "master-2": 1, "worker-0": 1, "worker-1": 6, "worker-2": 1} {
			a := f.accounts(t)[name]
			require.Equal(t, writes, a.commanded["image-write"], name)
			require.Equal(t, writes, a.writes, name)
		}
	})
	t.Run("of installations that are begun again", func(t *testing.T) {
		scripts++
		f := newFleet(t)
		s := shape{masters: 3, workers: 2, speed: 15}
		f.define(t, s)
		f.discover(t, s)
		f.runScript(t, l, f.here(l.bundled), "temporal-again.txtar")
		for name, a := range f.accounts(t) {
			require.LessOrEqual(t, a.writes, a.commanded["image-write"], "%s was written more often than commanded", name)
		}
	})
	t.Run("of installations that have ended", func(t *testing.T) {
		scripts++
		f := newFleet(t)
		s := shape{masters: 3, workers: 2, speed: 5, flags: map[string][]string{"master-1": {"--fail", "image-write:2"}}}
		f.define(t, s)
		f.discover(t, s)
		f.runScript(t, l, f.here(l.bundled), "temporal-ended.txtar")
		for name, a := range f.accounts(t) {
			require.LessOrEqual(t, a.writes, a.commanded["image-write"], "%s was written more often than commanded", name)
		}
	})
	t.Run("with an external server", func(t *testing.T) {
		scripts++
		address := external(t)
		f := newFleet(t, "TEMPORAL_ADDRESS="+address)
		s := shape{masters: 3, workers: 2, speed: 5}
		f.define(t, s)
		f.discover(t, s)
		before := strings.ReplaceAll(f.here(l.external), "temporal.example.com:7233", address)
		f.runScript(t, l, before, "temporal-external.txtar")
	})
	for _, line := range l.commands {
		// A filter of go test may leave scripts out.
		require.True(t, t.Failed() || scripts < 4 || l.used[line], "no script runs: %s", line)
	}
}

// external starts the development server of the temporal program, which keeps nothing.
func external(t *testing.T) string {
	t.Helper()
	port := built.FreePorts(t, 2)
	log, err := os.Create(filepath.Join(t.TempDir(), "temporal.log"))
	require.NoError(t, err)
	server := exec.Command(temporalCLI(t), "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", strconv.Itoa(port),
		"--http-port", strconv.Itoa(port+1))
	server.Stdout, server.Stderr = log, log
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
		_ = log.Close()
	})
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	await.True(t, func() bool {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	}, "the server does not listen")
	return address
}
