package arch_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "slipway/"

// nouns are pure: facts in, result out.
var nouns = []string{
	"internal/lifecycle", "internal/validation", "internal/support", "internal/operators", "internal/instructions",
	"internal/installconfig", "internal/manifests", "internal/ignition", "internal/image", "internal/staticnet", "internal/release", "internal/events",
	"internal/boundedyaml",
}

// allowed lists, for each package (or folder, ending in a slash), what else of ours it
// may import; the first match decides.
var allowed = []struct {
	pkg     string
	imports []string
	reason  string
}{
	{"internal/wire", nil, "formats know nobody"},
	{"internal/run/", []string{"internal/run"}, "stands in for a host in tests"},
	{"internal/run", nil, "the door to a host knows nobody"},
	{"internal/lean", nil, "knows its own process only"},
	{"internal/seal", nil, "keys know nobody"},
	{"internal/postgres", nil, "a database server knows no tables"},
	{"internal/model", []string{"internal/wire"}, "nouns are made of formats"},
	{"internal/tartest", nil, "reads what tests are given"},
	{"internal/pgtest", []string{"internal/postgres"}, "a test server"},
	{"internal/arch", nil, "looks from outside"},
	{"internal/docpage", nil, "prints what tests give it"},
	{"internal/store", []string{"internal/model", "internal/wire"}, "tables hold nouns"},
	{"internal/blob", []string{"internal/model", "internal/seal"}, "objects are referred to by nouns"},
	{"internal/auth", []string{"internal/model", "internal/wire"}, "identity knows nouns only"},
	{"internal/client", []string{"internal/model", "internal/wire"}, "speaks the wire"},
	{"internal/metrics", []string{"internal/events", "internal/model"}, "counts events, and knows nothing of who writes them"},
	{"internal/releasesource", []string{"internal/support"}, "asks the update service"},
	{"internal/discovery", append([]string{"internal/store", "internal/model", "internal/wire"}, nouns...), "evaluates nouns against tables"},
	{"internal/stream", []string{"internal/image"}, "sends layouts, whatever they are"},
	{"internal/osimages", []string{"internal/model", "internal/support", "internal/image"}, "files of the operating system, and what is offered"},
	{"internal/installation", append([]string{"internal/store", "internal/blob", "internal/discovery", "internal/model", "internal/wire"}, nouns...), "phases in the database"},
	{"internal/orchestrator", []string{"internal/store", "internal/model", "internal/wire", "workflows", "activities"}, "the bridge to Temporal"},
	{"internal/engine", []string{"internal/postgres"}, "the embedded servers know no nouns"},
	{"internal/cli/", []string{"internal/cli/", "internal/cli", "internal/client", "internal/model", "internal/run", "internal/wire"}, "commands for users speak the API"},
	{"internal/cli", []string{"internal/cli/", "internal/client", "internal/model", "internal/run", "internal/wire"}, "commands for users speak the API"},
	{"internal/sim/", []string{
		"internal/cli", "internal/cli/", "internal/support",
		"agent", "agent/", "installer", "installer/", "controller", "internal/client", "internal/run", "internal/model", "internal/wire",
		"internal/sim/", "internal/sim", "internal/ignition", "internal/installconfig",
	}, "machines run the real agent"},
	{"internal/sim", []string{
		"agent", "agent/", "installer", "installer/", "controller", "internal/client", "internal/run", "internal/model", "internal/wire", "internal/sim/",
		"internal/ignition",
	}, "machines run the real agent"},
	{"workflows", []string{"activities", "internal/model"}, "pure stories"},
	{"activities", append([]string{
		"internal/store", "internal/blob", "internal/installation", "internal/discovery", "internal/model", "internal/wire",
	}, nouns...), "work on nouns and tables"},
	{"worker", []string{"workflows", "activities"}, "the list of both"},
	{"api", append([]string{
		"internal/store", "internal/blob", "internal/orchestrator", "internal/auth", "internal/discovery", "internal/installation",
		"internal/osimages", "internal/stream", "internal/model", "internal/wire",
	}, nouns...), "never activities or workflows"},
	{"agent/", append([]string{"agent", "agent/", "installer", "internal/client", "internal/run", "internal/model", "internal/wire"}, nouns...), "never the store or Temporal"},
	{"agent", append([]string{"agent/", "installer", "internal/client", "internal/run", "internal/model", "internal/wire"}, nouns...), "never the store or Temporal"},
	{"installer/", append([]string{"installer", "installer/", "internal/client", "internal/run", "internal/model", "internal/wire"}, nouns...), "never the store or Temporal"},
	{"installer", append([]string{"installer/", "internal/client", "internal/run", "internal/model", "internal/wire"}, nouns...), "never the store or Temporal"},
	{"controller", append([]string{"internal/client", "internal/run", "internal/model", "internal/wire"}, nouns...), "never the store or Temporal"},
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "slipway/...")
	out, err := cmd.Output()
	require.NoError(t, err)
	var list []pkg
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		list = append(list, p)
	}
}

// matches takes a package by its name, or all below a folder; a noun stands for its
// parts too.
func matches(pattern, name string) bool {
	if strings.HasSuffix(pattern, "/") {
		return strings.HasPrefix(name, pattern)
	}
	return name == pattern || slices.Contains(nouns, pattern) && strings.HasPrefix(name, pattern+"/")
}

func TestImportsKeepWithinTheRules(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "test") {
			continue // these put everything together
		}
		may, reason, found := rule(name)
		require.True(t, found, "package %s has no rule: add one to the table of this test", name)
		for _, imported := range p.Imports {
			if !strings.HasPrefix(imported, module) {
				continue
			}
			other := strings.TrimPrefix(imported, module)
			ok := slices.ContainsFunc(may, func(pattern string) bool { return matches(pattern, other) })
			require.True(t, ok, "%s imports %s, which its rule (%s) does not allow", name, other, reason)
		}
	}
}

func rule(name string) (may []string, reason string, found bool) {
	for _, a := range allowed {
		if matches(a.pkg, name) {
			return a.imports, a.reason, true
		}
	}
	for _, n := range nouns {
		if name == n || strings.HasPrefix(name, n+"/") {
			within := []string{n + "/", n, "internal/model", "internal/wire"}
			return append(within, nouns...), "a pure noun", true
		}
	}
	return nil, "", false
}

// serverModule is the Temporal server: a minute to link, and none of anybody's business
// but the engine's.
const serverModule = "go.temporal.io/server"

func TestOnlyTheEngineLinksTheTemporalServer(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if p.ImportPath == "slipway/internal/engine" {
			continue
		}
		for _, imported := range p.Imports {
			require.False(t, strings.HasPrefix(imported, serverModule), "%s imports %s", p.ImportPath, imported)
			if imported == "slipway/internal/engine" {
				require.Equal(t, "slipway/cmd/slipway", p.ImportPath)
			}
		}
	}
}

func TestNounsReachNeitherStoreNorTemporal(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if !slices.Contains(nouns, name) {
			continue
		}
		for _, imported := range p.Imports {
			require.False(t, strings.HasPrefix(imported, "go.temporal.io/") || strings.HasPrefix(imported, "github.com/jackc/pgx"),
				"%s imports %s", name, imported)
		}
	}
}
