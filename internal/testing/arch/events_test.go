package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const eventsPackage = "internal/cluster/events"

// TestEveryEventIsEmitted fails for a name of the catalogue of events that no product code
// mentions: its page would promise users an event that never comes.
func TestEveryEventIsEmitted(t *testing.T) {
	t.Parallel()
	mentioned := map[string]bool{}
	for _, file := range productFiles(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "events" {
					mentioned[s.Sel.Name] = true
				}
			}
			return true
		})
	}
	for _, name := range eventNames(t) {
		require.True(
			t,
			mentioned[name],
			"no code emits events.%s: delete it from %s, and say why in notEmitted of its tests",
			name,
			eventsPackage,
		)
	}
}

// eventNames are the constants of type Name in the package of events.
func eventNames(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(top, eventsPackage, "catalogue.go"), nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Name" {
				names = append(names, spec.Names[0].Name)
			}
		}
		return true
	})
	require.NotEmpty(t, names)
	return names
}

// top is the folder of the module, seen from this package.
const top = "../../.."

// productFiles parses the Go files of the module that are no tests, by path from its top.
func productFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == ".git"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		files[strings.TrimPrefix(path, top+"/")] = file
		return err
	})
	require.NoError(t, err)
	return files
}
