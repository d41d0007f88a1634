package e2e_test

import (
	"fmt"
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
)

// documented is the address of the service in the written session.
const documented = "127.0.0.1:8090"

var fence = regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")

// TestWrittenSessionIsTrue runs the commands of docs/session.md against `slipway demo`,
// as the page says, and compares what they print with what the page shows.
func TestWrittenSessionIsTrue(t *testing.T) {
	program := binary(t)
	for _, tool := range []string{"curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIP: the written session needs %s", tool)
		}
	}
	address := freeAddress(t)
	startDemo(t, program, address)
	page, err := os.ReadFile("../../docs/session.md")
	require.NoError(t, err)
	script := filepath.Join(t.TempDir(), "session.txtar")
	require.NoError(t, os.WriteFile(script, []byte(sessionScript(strings.ReplaceAll(string(page), documented, address))), 0o600))
	testscript.Run(t, testscript.Params{
		Files: []string{script},
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Defer(func() { endBackground(filepath.Join(env.WorkDir, "pids")) })
			return nil
		},
		Deadline: time.Now().Add(4 * time.Minute),
	})
}

// endBackground ends what the session left running.
func endBackground(file string) {
	list, _ := os.ReadFile(file)
	for word := range strings.FieldsSeq(string(list)) {
		if pid, err := strconv.Atoi(word); err == nil {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}

// startDemo serves releases and the API until the test ends.
func startDemo(t *testing.T, program, address string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "slipway-session-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	demo := exec.Command(program, "demo", "--hosts", "0", "--keep", "--plain", "--listen", address, "--data-dir", dir)
	log, err := os.Create(filepath.Join(dir, "demo.log"))
	require.NoError(t, err)
	demo.Stdout, demo.Stderr = log, log
	demo.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, demo.Start())
	t.Cleanup(func() {
		_ = demo.Process.Signal(syscall.SIGTERM)
		_ = demo.Wait()
		_ = log.Close()
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	waitReady(t, "http://"+address)
}

// sessionScript turns the parts of a page into a testscript. The parts are one shell
// session: what one sets the next ones know.
func sessionScript(page string) string {
	var script, files strings.Builder
	part := 0
	for _, block := range fence.FindAllStringSubmatch(page, -1) {
		if block[1] == "sh" {
			part++
			fmt.Fprintf(&script, "exec sh -eu run.sh part-%d.sh\n", part)
			fmt.Fprintf(&files, "-- part-%d.sh --\n%s", part, block[2])
			continue
		}
		var lines []string
		for line := range strings.Lines(block[2]) {
			lines = append(lines, strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSuffix(line, "\n")), `\.\.\.`, `.*`))
		}
		fmt.Fprintf(&script, "stdout '^%s\\n$'\n", strings.ReplaceAll(strings.Join(lines, `\n`), "'", "''"))
	}
	files.WriteString("-- run.sh --\nset -a\n[ ! -e vars ] || . ./vars\n. ./$1\njobs -p >> pids\nexport -p > vars\n")
	return script.String() + files.String()
}
