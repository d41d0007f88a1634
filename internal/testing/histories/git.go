package histories

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoHistory is why commits cannot be compared.
var ErrNoHistory = errors.New("git has no complete history here")

// CheckCommits compares the folder of a released version, a path below the top of the repository, with git: what was
// in it when the version was released, or was added first since, is there and equal. It returns one error for each
// file that is not, and ErrNoHistory without a repository and in a shallow clone.
func CheckCommits(ctx context.Context, top, folder, version string) error {
	git := func(args ...string) (string, error) { return run(ctx, top, nil, args...) }
	if shallow, err := git("rev-parse", "--is-shallow-repository"); err != nil || shallow != "false" {
		return fmt.Errorf("%w: require a clone that is not shallow", ErrNoHistory)
	}
	release, err := git("log", "--reverse", "--format=%H", "-S", "\n## ["+version+"] - ", "--", "CHANGELOG.md")
	if err != nil {
		return fmt.Errorf("look for the release of version %s: %w", version, err)
	}
	release, _, _ = strings.Cut(release, "\n")
	if release == "" {
		return nil // it is about to be released
	}
	first, err := firstCommitted(git, release, folder)
	if err != nil {
		return fmt.Errorf("look for histories of version %s: %w", version, err)
	}
	var wrong []error
	for _, path := range sorted(first) {
		if filepath.Base(path) == sumsFile {
			continue // grows with the folder; Check compares it
		}
		now, err := objectOf(ctx, top, path)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("%s was committed and is missing: histories of a released version are kept", path))
		case now != first[path]:
			wrong = append(wrong, fmt.Errorf("%s was committed with another content: histories of a released version are kept as they are", path))
		}
	}
	return errors.Join(wrong...)
}

// run calls git in a folder.
func run(ctx context.Context, top string, input []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin = top, bytes.NewReader(input)
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// objectOf returns the object that a file would be in git; a file that is packed by now counts as unpacked.
func objectOf(ctx context.Context, top, path string) (string, error) {
	data, err := os.ReadFile(filepath.Join(top, path))
	if errors.Is(err, fs.ErrNotExist) {
		data, err = Read(filepath.Join(top, path+packed))
	}
	if err != nil {
		return "", err
	}
	return run(ctx, top, data, "hash-object", "--no-filters", "--stdin")
}

// firstCommitted returns the first object of each path in a folder, from a commit on.
func firstCommitted(git func(...string) (string, error), from, folder string) (map[string]string, error) {
	first := map[string]string{}
	tree, err := git("ls-tree", "-r", from, "--", folder)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(tree) { // mode, type and object, a tab, path
		fields := strings.Fields(line)
		if len(fields) == 4 {
			first[fields[3]] = fields[2]
		}
	}
	added, err := git("log", "--reverse", "--format=", "--raw", "--no-abbrev", "--no-renames", "--diff-filter=A", from+"..HEAD", "--", folder)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(added) { // two modes, two objects and the status, a tab, path
		fields := strings.Fields(line)
		if len(fields) == 6 && first[fields[5]] == "" {
			first[fields[5]] = fields[3]
		}
	}
	return first, nil
}

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
