package workflows_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/workflows"
)

// TestChangesAreListed holds the table against the calls of GetVersion in the source.
func TestChangesAreListed(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isGetVersion(call.Fun) {
				return true
			}
			require.Len(t, call.Args, 4)
			if of, ok := call.Args[1].(*ast.SelectorExpr); ok && of.Sel.Name == "Change" {
				return true // of a stage
			}
			name, ok := call.Args[1].(*ast.BasicLit)
			require.True(t, ok, "%s: the name of a change is a literal", path)
			newest, ok := call.Args[3].(*ast.BasicLit)
			require.True(t, ok, "%s: the newest version of a change is a literal", path)
			text, err := strconv.Unquote(name.Value)
			require.NoError(t, err)
			number, err := strconv.Atoi(newest.Value)
			require.NoError(t, err)
			found[text] = max(found[text], number)
			return true
		})
	}
	require.NotEmpty(t, found)
	for _, change := range steps.Changes() {
		require.NotContains(t, found, change, "a change brings a stage or something else")
		found[change] = 1
	}
	require.Equal(t, found, workflows.Changes(), "workflows/changes.go lists every change that GetVersion is called with")
}

func isGetVersion(f ast.Expr) bool {
	selector, ok := f.(*ast.SelectorExpr)
	return ok && selector.Sel.Name == "GetVersion"
}
