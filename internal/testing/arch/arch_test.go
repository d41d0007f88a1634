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

// nouns are pure: facts in, result out.
var nouns = []string{
	"internal/cluster/lifecycle", "internal/cluster/validation", "internal/cluster/openshift", "internal/cluster/operators",
	"internal/cluster/duesteps", "internal/cluster/steps", "internal/cluster/definition", "internal/cluster/nodeaddress",
	"internal/cluster/hardware", "internal/cluster/pullsecret",
	"internal/cluster/events", "internal/hostconfig/installconfig", "internal/hostconfig/manifests", "internal/hostconfig/ignition",
	"internal/hostconfig/staticnet", "internal/hostconfig/useryaml", "internal/images/remaster", "internal/images/release",
}

// Packages that many rules allow.
var (
	formats = []string{"internal/model", "internal/wire"}
	tables  = append([]string{"internal/platform/store"}, formats...)
	files   = append([]string{"internal/platform/blob"}, tables...)
	// remote is what programs on hosts and the commands of users are made of.
	remote = append([]string{"internal/client", "internal/client/contexts", "internal/platform/hostexec"}, formats...)
)

// allowed lists, for each package (or folder, ending in a slash), what else of ours it
// may import; the first match decides.
var allowed = []importRule{
	{"internal/wire", nil, "formats import nothing"},
	{"internal/testing/hostexectest", []string{"internal/platform/hostexec"}, "stands in for a host in tests"},
	{"internal/platform/hostexec", nil, "commands on a host import nothing"},
	{"internal/platform/idlememory", nil, "reads the memory of its own process only"},
	{"internal/platform/encryption", nil, "keys import nothing"},
	{"internal/platform/sandbox", nil, "programs are run whatever they are"},
	{
		"internal/images/release",
		slices.Concat([]string{"internal/platform/sandbox", "internal/platform/filelock"}, formats, nouns),
		"a noun that runs the programs of releases",
	},
	{"internal/model", []string{"internal/wire"}, "nouns are made of formats"},
	{"internal/cluster/hardware", formats, "reads inventories: rules ask it, it asks no rules"},
	{
		"internal/cluster/nodeaddress", append([]string{"internal/cluster/hardware"}, formats...),
		"networks and addresses of hosts: rules ask it",
	},
	{"internal/cluster/pullsecret", nil, "the installer imports it: reads texts only"},
	{"internal/cluster/steps", formats, "the agent imports it: no rules, no weight"},
	{"internal/testing/tartest", nil, "reads what tests are given"},
	{"internal/testing/realinstall", nil, "data for tests"},
	{"internal/platform/spool", nil, "keeps bytes"},
	{"internal/platform/filelock", nil, "locks files"},
	{"internal/testing/isotest", nil, "images for tests"},
	{"internal/testing/pgtest", nil, "a test server"},
	{"internal/testing/issuer", nil, "an issuer for tests"},
	{"internal/platform/oidc", []string{"internal/model", "internal/platform/auth"}, "users of an issuer are callers"},
	{"internal/testing/usertoken", []string{"internal/model", "internal/platform/auth"}, "tokens for tests"},
	{
		"internal/testing/fixtures",
		[]string{
			"internal/platform/store", "internal/platform/blob", "internal/platform/encryption", "internal/testing/pgtest",
			"internal/model",
		},
		"clusters and hosts for tests",
	},
	{"internal/testing/arch", nil, "looks from outside"},
	{"internal/testing/words", nil, "reads texts only"},
	{"internal/testing/await", nil, "waits in tests"},
	{"internal/testing/forkedchild", nil, "holds descriptors in tests"},
	{"internal/testing/httpclient", nil, "connections of tests"},
	{"internal/testing/unraced", nil, "says how tests run"},
	{"internal/testing/docpage", nil, "prints what tests give it"},
	{"internal/testing/histories", nil, "keeps files"},
	{"internal/testing/recorded", nil, "data for tests"},
	{"internal/platform/store", formats, "tables hold nouns"},
	{"internal/platform/blob", []string{"internal/model"}, "objects are referred to by nouns"},
	{"internal/platform/auth", formats, "identities are made of nouns"},
	{"internal/platform/signin", []string{"internal/model", "internal/platform/auth"}, "asks users of pages for their tokens"},
	{"internal/client/contexts", formats, "keeps how services are reached"},
	{"internal/client", formats, "speaks the wire"},
	{"internal/platform/guard", []string{"internal/model", "internal/platform/httpapi"}, "stands before handlers, whatever they do"},
	{"internal/platform/certificates", nil, "certificates import nothing"},
	{"internal/platform/metrics", []string{"internal/cluster/events", "internal/model"}, "counts events, whoever writes them"},
	{"internal/images/updateservice", []string{"internal/cluster/openshift"}, "asks the update service"},
	// The floors of the service, from the ground: transitions, evaluation, then discovery and reports; the orchestrator is above
	// activities and workflows.
	{"internal/service/transitions", slices.Concat(tables, nouns), "changes of status in the database"},
	{
		"internal/service/evaluation", slices.Concat([]string{"internal/service/transitions"}, tables, nouns),
		"evaluates nouns against tables",
	},
	{
		"internal/service/discovery",
		slices.Concat([]string{"internal/service/transitions", "internal/service/evaluation"}, tables, nouns), "agents only",
	},
	{"internal/service/reports", slices.Concat([]string{"internal/service/transitions"}, files, nouns), "records reports"},
	{"internal/images/download", []string{"internal/images/remaster"}, "sends layouts, whatever they are"},
	{"internal/platform/httpapi", formats, "maps errors of nouns to status codes"},
	{"internal/images/imageurl", slices.Concat([]string{"internal/platform/auth", "internal/model"}, nouns), "addresses of images"},
	{
		"internal/images/imageservice",
		slices.Concat([]string{
			"internal/images/liveisos", "internal/images/download", "internal/platform/auth", "internal/platform/httpapi",
		}, formats, nouns),
		"serves images, and asks the API over HTTP",
	},
	{
		"internal/images/liveisos",
		[]string{"internal/model", "internal/cluster/openshift", "internal/images/remaster", "internal/platform/filelock"},
		"files of the operating system, and what is offered",
	},
	{
		"internal/service/rotation", slices.Concat([]string{"internal/platform/encryption"}, tables),
		"encrypts again what tables and files hold",
	},
	{
		"internal/service/orchestrator",
		slices.Concat([]string{
			"internal/cluster/lifecycle", "internal/cluster/events", "internal/service/transitions", "internal/platform/encryption",
			"workflows", "activities",
		}, tables),
		"the bridge to Temporal",
	},
	{"internal/platform/engine", []string{"internal/platform/certificates"}, "the embedded servers know no nouns"},
	{"internal/platform/frontend", formats, "reaches a Temporal frontend"},
	{"internal/platform/postgres", []string{"internal/platform/filelock"}, "runs a PostgreSQL server"},
	{"internal/version", nil, "one number"},
	{"internal/cli/", slices.Concat([]string{"internal/cli/", "internal/cli"}, remote), "commands for users speak the API"},
	{"internal/cli", slices.Concat([]string{"internal/cli/"}, remote), "commands for users speak the API"},
	{
		"internal/sim/",
		slices.Concat([]string{
			"internal/cli", "internal/cli/", "internal/cluster/openshift", "agent", "agent/", "installer", "installer/",
			"controller", "internal/sim/", "internal/sim", "internal/hostconfig/ignition", "internal/hostconfig/installconfig",
		}, remote),
		"machines run the real agent",
	},
	{
		"internal/sim",
		slices.Concat([]string{
			"agent", "agent/", "installer", "installer/", "controller", "internal/sim/", "internal/hostconfig/ignition",
		}, remote),
		"machines run the real agent",
	},
	{"workflows", slices.Concat([]string{"activities", "internal/cluster/steps"}, formats), "deterministic: no I/O"},
	{
		"activities", slices.Concat([]string{"internal/service/transitions", "internal/service/reports"}, files, nouns),
		"phases in the database",
	},
	{"worker", []string{"workflows", "activities", "internal/version"}, "the list of both"},
	{
		"api/admission",
		slices.Concat([]string{
			"internal/platform/auth", "internal/platform/httpapi", "internal/platform/spool", "internal/cluster/lifecycle",
		}, tables),
		"before handlers: never a service",
	},
	{
		"api",
		slices.Concat([]string{
			"api/admission", "internal/platform/auth", "internal/service/discovery", "internal/service/transitions", "internal/images/imageurl",
			"internal/platform/httpapi",
			"internal/platform/spool",
		}, files, nouns),
		"never activities or workflows",
	},
	{"agent/", slices.Concat([]string{"agent", "agent/", "installer"}, remote, nouns), "never the store or Temporal"},
	{"agent", slices.Concat([]string{"agent/", "installer"}, remote, nouns), "never the store or Temporal"},
	{"installer/", slices.Concat([]string{"installer", "installer/"}, remote, nouns), "never the store or Temporal"},
	{"installer", slices.Concat([]string{"installer/"}, remote, nouns), "never the store or Temporal"},
	{"controller", slices.Concat(remote, nouns), "never the store or Temporal"},
}

// importRule is what else of ours a package, or all below a folder, may import.
type importRule struct {
	pkg     string
	imports []string
	reason  string
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
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if composes(name) {
			continue
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

// linked is a package of ours and every package of ours that it imports, directly or not.
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

// missing are the packages and folders of rules that match no package.
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
