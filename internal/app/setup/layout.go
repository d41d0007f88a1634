package setup

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"slipway/deploy/packages"
)

// file is one file of an installed service: with a content, or copied from another one.
type file struct {
	path    string
	mode    fs.FileMode
	content []byte
	from    string
}

// layout says where the files of a service are below a prefix, as deploy/packages/nfpm.yaml does below /usr.
type layout struct{ prefix string }

func (l layout) program() string  { return filepath.Join(l.prefix, "bin", "slipway") }
func (l layout) library() string  { return filepath.Join(l.prefix, "lib", "slipway") }
func (l layout) unit() string     { return l.units("slipway.service") }
func (l layout) licences() string { return filepath.Join(l.prefix, "share", "doc", "slipway") }
func (l layout) man() string      { return filepath.Join(l.prefix, "share", "man", "man1", "slipway.1.gz") }

func (l layout) bash() string {
	return filepath.Join(l.prefix, "share", "bash-completion", "completions", "slipway")
}

func (l layout) fish() string {
	return filepath.Join(l.prefix, "share", "fish", "vendor_completions.d", "slipway.fish")
}

func (l layout) units(name string) string {
	return filepath.Join(l.prefix, "lib", "systemd", "system", name)
}

// shipped lists the files that the packages have as they are, with their paths.
func (l layout) shipped() map[string]string {
	return map[string]string{
		"slipway.service":        l.unit(),
		"slipway-backup.service": l.units("slipway-backup.service"),
		"slipway-backup.timer":   l.units("slipway-backup.timer"),
		"slipway.sysusers":       filepath.Join(l.prefix, "lib", "sysusers.d", "slipway.conf"),
		"slipway.tmpfiles":       filepath.Join(l.prefix, "lib", "tmpfiles.d", "slipway.conf"),
	}
}

// text returns a file of the packages for this prefix.
func (l layout) text(name string) ([]byte, error) {
	text, err := packages.Files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read %s of the program: %w", name, err)
	}
	return bytes.ReplaceAll(text, []byte("/usr/bin/slipway"), []byte(l.program())), nil
}

// hostPrograms lists the programs of hosts and new clusters in a folder.
func hostPrograms(folder string) (all []string) {
	for _, pattern := range []string{"slipway-agent-*", "slipway-controller-*"} {
		found, _ := filepath.Glob(filepath.Join(folder, pattern)) // the patterns are well formed
		all = append(all, found...)
	}
	return all
}

// files returns everything that is written, from a program and the folder with the programs of hosts.
func (l layout) files(ctx context.Context, self, folder string) ([]file, error) {
	all := []file{{path: l.program(), mode: 0o755, from: self}}
	for _, program := range hostPrograms(folder) {
		all = append(all, file{path: filepath.Join(l.library(), filepath.Base(program)), mode: 0o755, from: program})
	}
	for name, path := range l.shipped() {
		text, err := l.text(name)
		if err != nil {
			return nil, err
		}
		all = append(all, file{path: path, mode: 0o644, content: text})
	}
	for path, args := range map[string][]string{
		l.man():  {"man"},
		l.bash(): {"completion", "bash", "--program", l.program()},
		l.fish(): {"completion", "fish", "--program", l.program()},
	} {
		text, err := exec.CommandContext(ctx, self, args...).Output()
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", self, strings.Join(args, " "), err)
		}
		if strings.HasSuffix(path, ".gz") {
			text = compressed(text)
		}
		all = append(all, file{path: path, mode: 0o644, content: text})
	}
	// In an archive of a release, beside the program.
	for _, name := range []string{"LICENSE", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(self), name))
		if err == nil {
			all = append(all, file{path: filepath.Join(l.licences(), name), mode: 0o644, content: text})
		}
	}
	return all, nil
}

func compressed(text []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// write replaces a file in one step: a program that runs keeps its own.
func (f file) write() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", f.path, err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil { //nolint:gosec // folders of programs are for all users
		return err
	}
	var content io.Reader = bytes.NewReader(f.content)
	if f.from != "" {
		source, err := os.Open(f.from)
		if err != nil {
			return err
		}
		defer func() { _ = source.Close() }()
		if same(source, f.path) {
			return nil
		}
		content = source
	}
	out, err := renameio.NewPendingFile(f.path, renameio.WithStaticPermissions(f.mode))
	if err != nil {
		return err
	}
	defer func() { _ = out.Cleanup() }()
	if _, err := io.Copy(out, content); err != nil {
		return err
	}
	return out.CloseAtomicallyReplace()
}

// same reports whether a path is the open file.
func same(open *os.File, path string) bool {
	a, err := open.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// remove removes files, and the folders that only a service has, where they are empty.
func (l layout) remove() error {
	all := append([]string{l.program(), l.man(), l.bash(), l.fish()}, hostPrograms(l.library())...)
	for _, path := range l.shipped() {
		all = append(all, path)
	}
	for _, name := range []string{"LICENSE", "CHANGELOG.md"} {
		all = append(all, filepath.Join(l.licences(), name))
	}
	var failed []error
	for _, path := range all {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
	}
	_ = os.Remove(l.library()) // stays with files of other services
	_ = os.Remove(l.licences())
	return errors.Join(failed...)
}
