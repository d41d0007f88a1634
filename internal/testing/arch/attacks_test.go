package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// namedTest is a test as docs/security.md names it: its folder and its name.
var namedTest = regexp.MustCompile("`([a-z0-9/-]+):(Test[A-Za-z0-9]+)`")

func TestListedAttacksHaveTests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/security.md")
	require.NoError(t, err)
	_, list, found := strings.Cut(string(page), "\n## Attacks that are tried\n")
	require.True(t, found)
	for entry := range strings.SplitSeq(list, "\n- ") {
		if _, _, isAttack := strings.Cut(entry, ": `"); isAttack {
			require.Regexp(t, namedTest, entry)
		}
	}
	named := namedTest.FindAllStringSubmatch(list, -1)
	require.Greater(t, len(named), 40)
	for _, test := range named {
		require.Contains(t, testsIn(t, "../../../"+test[1]), test[2], "%s has no such test", test[1])
	}
}

// actorFaults returns what is wrong with the table of actors: each row ends with tests, and they are among the attacks that are tried.
func actorFaults(page string) []string {
	_, after, _ := strings.Cut(page, "\n| actor |")
	table, _, _ := strings.Cut(after, "\n\n")
	_, tried, _ := strings.Cut(page, "\n## Attacks that are tried\n")
	var faults []string
	for _, row := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		actor, last := cells[0], cells[len(cells)-1]
		tests := namedTest.FindAllString(last, -1)
		if len(cells) < 5 || len(tests) == 0 {
			faults = append(faults, "no test shows what stops "+actor)
		}
		for _, test := range tests {
			if !strings.Contains(tried, test) {
				faults = append(faults, actor+": make attack does not run "+test)
			}
		}
	}
	return faults
}

func TestEveryActorIsStoppedByATestThatRuns(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/security.md")
	require.NoError(t, err)
	page := string(text)
	require.Empty(t, actorFaults(page))
	for _, actor := range []string{
		"anyone in the provisioning network", "a machine with a discovery image", "a host", "a user of another tenant", "a read-only user",
		"a web site that an operator visits", "another user of the service machine", "an administrator of a namespace of the hub",
		"a user of the database", "who names images or clusters, or answers there", "who serves images, or stands between hosts and the service",
		"a new cluster's controller", "a user of an issuer", "a finder of a backup, or of its key",
	} {
		require.Contains(t, page, "\n| "+actor+" | ")
	}
	require.Equal(t, []string{"no test shows what stops a cat"},
		actorFaults(strings.Replace(page, "\n| a host | ", "\n| a cat | paws | sleep | doors |  |\n| a host | ", 1)))
	require.Equal(t, []string{"a cat: make attack does not run `api:TestCats`"},
		actorFaults(strings.Replace(page, "\n| a host | ", "\n| a cat | paws | sleep | doors | `api:TestCats` |\n| a host | ", 1)))
}

// testsIn lists the names of the functions in the test files of a folder.
func testsIn(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*_test.go")
	require.NoError(t, err)
	var names []string
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}
