package steps_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"slipway/test/bench/netlab"
)

// folder is where what all tests share is; TestMain removes it.
var folder string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if folder, err = os.MkdirTemp("", netlab.Mine("steps")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	return m.Run()
}

// sweep removes, once, what an earlier run left that was killed.
var sweep sync.Once

// buildAgent builds the agent of this checkout, once.
var buildAgent = sync.OnceValues(func() (string, error) {
	program := filepath.Join(folder, "slipway-agent")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, "slipway/cmd/slipway-agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the agent: %w: %s", err, out)
	}
	return program, nil
})

// needs skips a test where something is missing, and returns the built agent.
func needs(t *testing.T, tools ...string) (program string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIP: hosts in namespaces need root")
	}
	var missing []string
	for _, name := range append([]string{"ip", "unshare", "mount", "go"}, tools...) {
		if _, err := netlab.Find(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		t.Skipf("SKIP: this step needs the commands %s (deploy/bench-packages steps)", strings.Join(missing, ", "))
	}
	sweep.Do(func() { netlab.Sweep(t) })
	program, err := buildAgent()
	if err != nil {
		t.Fatal(err)
	}
	return program
}
