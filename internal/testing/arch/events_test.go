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
	mentioned := mentionsOf(t, "events")
	for _, name := range constantsOf(t, filepath.Join(eventsPackage, "catalogue.go"), "Name") {
		require.True(
			t,
			mentioned[name],
			"no code emits events.%s: emit it; or delete it from %s, and say why in notEmitted of its tests",
			name,
			eventsPackage,
		)
	}
}

// TestEveryEventOfTheTablesIsApplied fails for an event of the tables of transitions that no
// product code mentions: its rows would never decide.
func TestEveryEventOfTheTablesIsApplied(t *testing.T) {
	t.Parallel()
	mentioned := mentionsOf(t, "lifecycle")
	for _, typ := range []string{"HostEvent", "ClusterEvent"} {
		for _, name := range constantsOf(t, "internal/cluster/lifecycle/events.go", typ) {
			require.True(t, mentioned[name], "no code applies lifecycle.%s", name)
		}
	}
}

// mentionsOf lists the names of a package that product code of other packages mentions.
func mentionsOf(t *testing.T, name string) map[string]bool {
	t.Helper()
	mentioned := map[string]bool{}
	for _, file := range productFiles(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == name {
					mentioned[s.Sel.Name] = true
				}
			}
			return true
		})
	}
	return mentioned
}

// constantsOf lists the constants of a type in a file.
func constantsOf(t *testing.T, path, typ string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(top, path), nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == typ {
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
