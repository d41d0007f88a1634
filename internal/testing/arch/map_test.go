package arch_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	mapRow  = regexp.MustCompile("(?m)^\\| `([a-z/]+?)/?` \\| (.*) \\|$")
	mapName = regexp.MustCompile("`([a-z0-9-]+)`")
)

// unlisted are districts whose row does not name their packages.
var unlisted = []string{"internal/testing", "test"}

// programs are named in the map as well.
var programs = []string{"slipway", "make"}

// TestMapOfTheReadmeHasEachFolder compares the map with the packages: each is named in the row of its district, and each name is a folder.
func TestMapOfTheReadmeHasEachFolder(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(readme), "\n## Map\n")
	require.True(t, found)
	names := map[string][]string{} // of packages, by district
	for _, row := range mapRow.FindAllStringSubmatch(text, -1) {
		for _, name := range mapName.FindAllStringSubmatch(row[2], -1) {
			names[row[1]] = append(names[row[1]], name[1])
		}
		names[row[1]] = append(names[row[1]], "")
	}
	folders := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		district := name
		for names[district] == nil && district != "." {
			district = path.Dir(district)
		}
		require.NotEqual(t, ".", district, "package %s is in no row of the map", name)
		for folder := name; folder != district; folder = path.Dir(folder) {
			folders[district+"/"+path.Base(folder)] = true
			if !slices.Contains(unlisted, district) {
				require.Contains(t, names[district], path.Base(folder), "package %s is not in the row of %s", name, district)
			}
		}
	}
	for district, list := range names {
		for _, name := range list {
			if name != "" && !slices.Contains(programs, name) {
				require.True(t, folders[district+"/"+name], "the row of %s names %s, which is no folder", district, name)
			}
		}
	}
}
