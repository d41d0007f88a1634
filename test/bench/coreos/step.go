package coreos

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed system
var system embed.FS

// Step makes one artifact: a folder with what a script left in it.
type Step struct {
	Name   string
	Script string // below the folder system
	// Files of the folder system that the script reads; a folder means all in it.
	Files []string
	// Settings are environment variables for the script.
	Settings map[string]string
	// Paths are environment variables too, of what is the same wherever it is: no part of
	// the key. What is found there must be named by a setting.
	Paths map[string]string
	// Needs are other artifacts, by the environment variable that shows the script where
	// each one is.
	Needs map[string]Step
}

// Key names what the step makes: another one whenever anything it is made of is.
func (s Step) Key() (string, error) {
	sum := sha256.New()
	for _, name := range append([]string{s.Script}, s.Files...) {
		err := fs.WalkDir(system, path.Join("system", name), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := system.ReadFile(file)
			fmt.Fprintf(sum, "file %s %d\n%s\n", file, len(content), content)
			return err
		})
		if err != nil {
			return "", fmt.Errorf("read what %s is made by: %w", s.Name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Settings)) {
		fmt.Fprintf(sum, "setting %s %q\n", name, s.Settings[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Needs)) {
		key, err := s.Needs[name].Key()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "need %s %s\n", name, key)
	}
	return s.Name + "-" + hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// lines lists the lines of a file in the folder system, without comments and empty ones.
func lines(name string) ([]string, error) {
	content, err := system.ReadFile(path.Join("system", name))
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			found = append(found, line)
		}
	}
	return found, nil
}
