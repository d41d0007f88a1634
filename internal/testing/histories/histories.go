// Package histories keeps the recorded workflow histories that the replay tests hold workflows against: a folder for
// each release, with a file SHA256SUMS of its histories as they are unpacked. Histories of a released version never change.
package histories

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// sumsFile has the format of sha256sum (coreutils): digest, two blanks, name.
const sumsFile = "SHA256SUMS"

// released finds the sections of versions in a changelog, as https://keepachangelog.com/en/1.1.0/ has them.
var released = regexp.MustCompile(`(?m)^## \[([^\]]+)\] - \d{4}-\d{2}-\d{2}`)

// Released lists the versions that a changelog has a dated section for.
func Released(changelog string) (versions []string) {
	for _, found := range released.FindAllStringSubmatch(changelog, -1) {
		versions = append(versions, found[1])
	}
	return versions
}

// Recorder adds histories to the folder of one release.
type Recorder struct {
	dir string
	mu  sync.Mutex
}

// NewRecorder returns a recorder for the folder of a release below root; versions lists the released ones.
func NewRecorder(root, release string, versions []string) (*Recorder, error) {
	if !filepath.IsLocal(release) || strings.ContainsAny(release, `/\`) || release == "." {
		return nil, fmt.Errorf("record histories: require a version such as 0.2.0, found %q", release)
	}
	dir := filepath.Join(root, release)
	if slices.Contains(versions, release) {
		return nil, fmt.Errorf("record histories: version %s is released, and the histories in %s are kept as they are: "+
			"name the next version with RELEASE", release, dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("record histories: %w", err)
	}
	return &Recorder{dir: dir}, nil
}

// Write adds a history, and its digest to SHA256SUMS. It refuses a name that exists.
func (r *Recorder) Write(name string, data []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	path := filepath.Join(r.dir, name+packed)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("record histories: %s exists, and a recorded history is never written over: "+
			"name another version with RELEASE, or delete it if it was never committed", path)
	}
	if err != nil {
		return fmt.Errorf("record histories: %w", err)
	}
	if err := pack(file, data); err != nil {
		return errors.Join(fmt.Errorf("record histories: %w", err), file.Close())
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("record histories: %w", err)
	}
	return r.list(name, data)
}

func (r *Recorder) list(name string, data []byte) error {
	sums, err := readSums(r.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if sums == nil {
		sums = map[string]string{}
	}
	sums[name] = digest(data)
	var text strings.Builder
	for _, name := range sorted(sums) {
		fmt.Fprintf(&text, "%s  %s\n", sums[name], name)
	}
	if err := os.WriteFile(filepath.Join(r.dir, sumsFile), []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("record histories: %w", err)
	}
	return nil
}

// Check compares every folder below root with its SHA256SUMS: each file is listed, and each listed file is there and
// equal. It returns one error for each file that is not.
func Check(root string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return fmt.Errorf("read recorded histories: %w", err)
	}
	var wrong []error
	for _, entry := range entries {
		if !entry.IsDir() {
			wrong = append(wrong, fmt.Errorf("%s is in no folder of a release", filepath.Join(root, entry.Name())))
			continue
		}
		wrong = append(wrong, checkFolder(filepath.Join(root, entry.Name())))
	}
	return errors.Join(wrong...)
}

func checkFolder(dir string) error {
	sums, err := readSums(dir)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read recorded histories: %w", err)
	}
	var wrong []error
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), packed)
		path, want := filepath.Join(dir, entry.Name()), sums[name]
		delete(sums, name)
		if name == sumsFile {
			continue
		}
		data, err := Read(path)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("read recorded histories: %w", err))
		case want == "":
			wrong = append(wrong, fmt.Errorf("%s is not listed in %s", path, sumsFile))
		case digest(data) != want:
			wrong = append(wrong, fmt.Errorf("%s has changed: a recorded history stays as it was recorded", path))
		}
	}
	for _, name := range sorted(sums) {
		wrong = append(wrong, fmt.Errorf("%s is listed in %s and missing", filepath.Join(dir, name), sumsFile))
	}
	return errors.Join(wrong...)
}

func readSums(dir string) (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if err != nil {
		return nil, fmt.Errorf("read digests of recorded histories: %w", err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(data)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || len(sum) != hex.EncodedLen(sha256.Size) || name == "" {
			return nil, fmt.Errorf("read %s: require digest, two blanks and name, found %q", filepath.Join(dir, sumsFile), line)
		}
		sums[name] = sum
	}
	return sums, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
