package histories_test

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

// TestMakefileRunsEveryCase compares RECORDED with the tests that record a case.
func TestMakefileRunsEveryCase(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../../Makefile")
	require.NoError(t, err)
	line := regexp.MustCompile(`(?m)^RECORDED := (.*)$`).FindSubmatch(makefile)
	require.NotNil(t, line)
	run := regexp.MustCompile(string(line[1]))
	var cases []string
	for test, name := range recording(t) {
		require.Regexp(t, run, test, "make record-histories does not record it")
		cases = append(cases, name...)
	}
	for _, name := range []string{
		`"ha"`, `"retry"`, `"reset"`, `"reclaim"`, `"host-lost"`, `"control"`, `"pause-first"`, `"ended-hosts"`, `"many"`,
	} {
		require.Contains(t, cases, name)
	}
}

// recording lists the end-to-end tests that record, with the names of their cases as they are written.
func recording(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("../../../test/e2e/*_test.go")
	require.NoError(t, err)
	found := map[string][]string{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 2 {
					return true
				}
				if method, ok := call.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "record" {
					name, _ := call.Args[1].(*ast.BasicLit)
					found[f.Name.Name] = append(found[f.Name.Name], literal(name))
				}
				return true
			})
		}
	}
	require.NotEmpty(t, found)
	return found
}

func literal(l *ast.BasicLit) string {
	if l == nil {
		return "" // it is computed
	}
	return l.Value
}
