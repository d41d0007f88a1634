package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListedTestsExist(t *testing.T) {
	t.Parallel()
	points, err := read(list)
	require.NoError(t, err)
	require.NotEmpty(t, points)
	seen := map[string]bool{}
	for _, p := range points {
		require.False(t, seen[p.id], "%s is listed twice", p.id)
		seen[p.id] = true
		for _, test := range p.tests {
			require.Contains(t, testsIn(t, "../../"+test.folder), test.name, "%s (%s): %s has no such test", p.id, p.what, test.folder)
		}
	}
}

// testsIn are the names of the functions in the test files of a folder.
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

func TestMalformedLinesAreRefused(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"a point without tests", "id\twhat", "id\twhat\t", "id\twhat\tTestWithoutPackage"} {
		_, err := read(line + "\n")
		require.ErrorContains(t, err, "require", line)
	}
	points, err := read("# a comment\n\nid\twhat\t- needs SELinux\nother\twhat\tapi:TestA controller:TestB\n")
	require.NoError(t, err)
	require.Equal(t, []point{
		{id: "id", what: "what", reason: "needs SELinux"},
		{id: "other", what: "what", tests: []test{{"api", "TestA"}, {"controller", "TestB"}}},
	}, points)
}
