package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/test/built"
)

// documented is the address of the service in the written session.
const documented = "127.0.0.1:8090"

var fence = regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")

// TestWrittenSessionIsTrue runs the commands of docs/session.md against `slipway-demo`,
// as the page says, and compares what they print with what the page shows.
func TestWrittenSessionIsTrue(t *testing.T) {
	program := built.Binary(t)
	for _, tool := range []string{"curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIP: the written session needs %s", tool)
		}
	}
	address := built.FreeAddress(t)
	dataDir := built.StartDemo(t, program, address)
	page, err := os.ReadFile("../../docs/session.md")
	require.NoError(t, err)
	script := filepath.Join(t.TempDir(), "session.txtar")
	require.NoError(t, os.WriteFile(script, []byte(sessionScript(strings.ReplaceAll(string(page), documented, address))), 0o600))
	testscript.Run(t, testscript.Params{
		Files: []string{script},
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("SLIPWAY_DATA_DIR", dataDir)
			env.Defer(func() { built.EndListed(t, filepath.Join(env.WorkDir, "pids")) })
			return nil
		},
		Deadline: time.Now().Add(await.Limit(t)),
	})
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
