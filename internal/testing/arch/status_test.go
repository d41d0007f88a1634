package arch_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	gopackages "golang.org/x/tools/go/packages"
)

// changesStatuses are the packages that may write the status of a host or cluster:
// lifecycle decides it, and the store reads rows of the database.
var changesStatuses = []string{"internal/cluster/lifecycle", "internal/platform/store", "internal/testing/fixtures"}

// statusFields lists the fields that only a transition changes.
var statusFields = []string{"Status", "StatusInfo"}

// TestOnlyLifecycleChangesStatuses holds every status of a host or cluster to the tables
// of transitions: no other package assigns one, takes its address, or makes an object
// with one.
func TestOnlyLifecycleChangesStatuses(t *testing.T) {
	t.Parallel()
	var patterns []string
	for path, file := range productFiles(t) {
		folder := filepath.ToSlash(filepath.Dir(path))
		if slices.Contains(changesStatuses, folder) || strings.HasPrefix(folder, "test") || slices.Contains(patterns, module+folder) {
			continue
		}
		if len(statusWrites(file, func(ast.Expr) bool { return true })) > 0 { // of whatever type
			patterns = append(patterns, module+folder)
		}
	}
	require.NotEmpty(t, patterns)
	for _, p := range typed(t, patterns...) {
		for _, found := range writesOf(p) {
			t.Errorf("%s: apply an event of internal/cluster/lifecycle instead", found)
		}
	}
}

func TestStatusWritesAreFound(t *testing.T) {
	t.Parallel()
	found := writesOf(typed(t, "./testdata/statuswrites")[0])
	require.Len(t, found, 6, "%v", found)
}

func typed(t *testing.T, patterns ...string) []*gopackages.Package {
	t.Helper()
	list, err := gopackages.Load(&gopackages.Config{
		Mode: gopackages.NeedName | gopackages.NeedFiles | gopackages.NeedSyntax |
			gopackages.NeedTypes | gopackages.NeedTypesInfo | gopackages.NeedImports,
	}, patterns...)
	require.NoError(t, err)
	require.NotEmpty(t, list)
	for _, p := range list {
		require.Empty(t, p.Errors, "%s", p.PkgPath)
	}
	return list
}

// writesOf lists where a package writes the status of a host or cluster.
func writesOf(p *gopackages.Package) []string {
	var found []string
	for _, file := range p.Syntax {
		for _, at := range statusWrites(file, func(e ast.Expr) bool { return ruled(p.TypesInfo.TypeOf(e)) }) {
			found = append(found, p.Fset.Position(at).String())
		}
	}
	return found
}

// statusWrites lists where a file writes a status field of an object that is ruled.
func statusWrites(file *ast.File, ruled func(ast.Expr) bool) []token.Pos {
	var found []token.Pos
	check := func(e ast.Expr) {
		if s, ok := e.(*ast.SelectorExpr); ok && slices.Contains(statusFields, s.Sel.Name) && ruled(s.X) {
			found = append(found, e.Pos())
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				check(e)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				check(n.X)
			}
		case *ast.CompositeLit:
			for _, field := range n.Elts {
				pair, ok := field.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				if key, ok := pair.Key.(*ast.Ident); ok && slices.Contains(statusFields, key.Name) && ruled(n) {
					found = append(found, pair.Pos())
				}
			}
		}
		return true
	})
	return found
}

// ruled reports whether a type is a host or cluster of the model, or a pointer to one.
func ruled(t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != module+"internal/model" {
		return false
	}
	return named.Obj().Name() == "Host" || named.Obj().Name() == "Cluster"
}
