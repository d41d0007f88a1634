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
var namedTest = regexp.MustCompile("`([a-z0-9/]+):(Test[A-Za-z0-9]+)`")

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
