package arch_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "slipway/"

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

// matches reports whether a pattern selects a package: by its name, or as part of a folder or
// a noun.
func matches(pattern, name string) bool {
	if strings.HasSuffix(pattern, "/") {
		return strings.HasPrefix(name, pattern)
	}
	return name == pattern || slices.Contains(nouns, pattern) && strings.HasPrefix(name, pattern+"/")
}

func TestImportsKeepWithinTheRules(t *testing.T) {
	t.Parallel()
	require.Empty(t, violations(packages(t)))
}

// violations lists the imports that no rule allows, and the packages without a rule.
func violations(list []pkg) []string {
	var out []string
	for _, p := range list {
		name := strings.TrimPrefix(p.ImportPath, module)
		if composes(name) {
			continue
		}
		may, reason, found := rule(name)
		if !found {
			out = append(out, "package "+name+" has no rule: add one to the table of this test")
		}
		for _, imported := range p.Imports {
			if !strings.HasPrefix(imported, module) {
				continue
			}
			other := strings.TrimPrefix(imported, module)
			if !slices.ContainsFunc(may, func(pattern string) bool { return matches(pattern, other) }) {
				out = append(out, name+" imports "+other+", which its rule ("+reason+") does not allow")
			}
		}
	}
	return out
}

// TestPlantedImportsAreFound plants imports that run up a floor, or past one.
func TestPlantedImportsAreFound(t *testing.T) {
	t.Parallel()
	for _, planted := range [][2]string{
		{"internal/service/transitions", "internal/service/evaluation"},
		{"internal/service/evaluation", "internal/service/discovery"},
		{"internal/service/evaluation", "internal/service/reports"},
		{"internal/service/reports", "internal/service/evaluation"},
		{"internal/service/discovery", "internal/service/orchestrator"},
		{"activities", "internal/service/orchestrator"},
		{"activities", "internal/service/discovery"},
		{"workflows", "internal/platform/store"},
		{"api/admission", "api"},
		{"api/admission", "internal/service/discovery"},
		{"api", "internal/service/orchestrator"},
		{"internal/cluster/hardware", "internal/cluster/validation"},
		{"internal/cluster/nodeaddress", "internal/cluster/validation"},
		{"internal/cluster/validation", "internal/platform/store"},
		{"internal/platform/store", "internal/cluster/lifecycle"},
		{"agent", "internal/platform/store"},
		{"internal/nowhere", "internal/model"},
	} {
		found := violations([]pkg{{ImportPath: module + planted[0], Imports: []string{module + planted[1]}}})
		require.NotEmpty(t, found, "%s may import %s", planted[0], planted[1])
	}
}

// composes reports whether a package may put everything together.
func composes(name string) bool {
	return strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "test") || name == "internal/testing/reachable" ||
		matches("internal/app", name) || matches("internal/app/", name)
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

// serverModule is the Temporal server, which takes minutes to compile and a minute to link.
const serverModule = "go.temporal.io/server"

func TestOnlyTheEngineLinksTheTemporalServer(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if p.ImportPath == "slipway/internal/platform/engine" {
			continue
		}
		for _, imported := range p.Imports {
			require.False(t, strings.HasPrefix(imported, serverModule), "%s imports %s", p.ImportPath, imported)
			if imported == "slipway/internal/platform/engine" {
				require.Equal(t, "slipway/internal/app", p.ImportPath)
			}
		}
	}
}

// TestMakefileKnowsThePackagesThatLinkTheTemporalServer compares ENGINE, which is tested
// without the race detector, with what links the server.
func TestMakefileKnowsThePackagesThatLinkTheTemporalServer(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../../Makefile")
	require.NoError(t, err)
	line := regexp.MustCompile(`(?m)^ENGINE := (.*)$`).FindSubmatch(makefile)
	require.NotNil(t, line)
	list := packages(t)
	var linking []string
	for _, p := range list {
		if linked(list, p.ImportPath)["slipway/internal/platform/engine"] {
			linking = append(linking, p.ImportPath)
		}
	}
	require.ElementsMatch(t, linking, strings.Fields(string(line[1])))
}

// TestProgramsAreBuiltForFourArchitectures looks at what make build would run: hosts and new clusters of each
// architecture fetch their programs from the service.
func TestProgramsAreBuiltForFourArchitectures(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("make", "--no-print-directory", "-n", "build")
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	require.NoError(t, err)
	own, err := exec.Command("go", "env", "GOARCH").Output()
	require.NoError(t, err)
	for _, architecture := range []string{"amd64", "arm64", "ppc64le", "s390x"} {
		for _, program := range []string{"slipway-agent", "slipway-controller"} {
			want := "GOARCH=" + architecture + " nice -n 19 go build -ldflags '-s -w' -o bin/" + program + "-" + architecture
			if architecture == strings.TrimSpace(string(own)) {
				want = "-o bin/" + program + "-$(go env GOARCH) ./cmd/" + program
			}
			require.Contains(t, string(out), want)
		}
	}
}

// TestTheServiceDoesNotLinkTheSimulator keeps simulated machines in slipway-demo.
func TestTheServiceDoesNotLinkTheSimulator(t *testing.T) {
	t.Parallel()
	list := packages(t)
	for _, program := range []string{"slipway/cmd/slipway", "slipway/cmd/slipway-agent", "slipway/cmd/slipway-controller"} {
		for path := range linked(list, program) {
			require.NotContains(t, path+"/", "/sim/", "%s links %s", program, path)
		}
	}
}

// linked returns a package of ours and every package of ours that it imports, directly or not.
func linked(list []pkg, path string) map[string]bool {
	imports := map[string][]string{}
	for _, p := range list {
		imports[p.ImportPath] = p.Imports
	}
	found := map[string]bool{}
	var add func(string)
	add = func(path string) {
		if !strings.HasPrefix(path, module) || found[path] {
			return
		}
		found[path] = true
		for _, imported := range imports[path] {
			add(imported)
		}
	}
	add(path)
	return found
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

// TestRulesAreAboutPackagesThatExist fails for a rule that outlived its package: it
// would say nothing when a package of that name comes back.
func TestRulesAreAboutPackagesThatExist(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range packages(t) {
		names = append(names, strings.TrimPrefix(p.ImportPath, module))
	}
	for _, n := range nouns {
		require.Contains(t, names, n, "a pure noun")
	}
	require.Empty(t, missing(allowed, names), "rules name what does not exist")
	planted := []importRule{{"internal/wire", []string{"internal/postgres"}, "planted"}, {"internal/lost/", nil, "planted"}}
	require.Equal(t, []string{"internal/postgres", "internal/lost/"}, missing(planted, names))
}

// missing lists the packages and folders of rules that match no package.
func missing(rules []importRule, packages []string) []string {
	var out []string
	for _, r := range rules {
		for _, pattern := range append([]string{r.pkg}, r.imports...) {
			if !slices.ContainsFunc(packages, func(name string) bool { return matches(pattern, name) }) {
				out = append(out, pattern)
			}
		}
	}
	return out
}

// longestChain is how many imports of our packages follow one another, from a program down to the formats.
const longestChain = 11

func TestChainsOfImportsAreShort(t *testing.T) {
	t.Parallel()
	imports := map[string][]string{}
	for _, p := range packages(t) {
		imports[p.ImportPath] = p.Imports
	}
	chains := map[string][]string{}
	var chain func(string) []string
	chain = func(path string) []string {
		if known, ok := chains[path]; ok {
			return known
		}
		var below []string
		for _, imported := range imports[path] {
			if strings.HasPrefix(imported, module) && len(chain(imported)) > len(below) {
				below = chain(imported)
			}
		}
		chains[path] = append([]string{path}, below...)
		return chains[path]
	}
	for path := range imports {
		require.LessOrEqual(t, len(chain(path))-1, longestChain, "%v", chain(path))
	}
}
