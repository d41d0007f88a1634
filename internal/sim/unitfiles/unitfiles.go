// Package unitfiles plays what systemctl does with unit files of a simulated machine: it enables, disables and masks
// units, and refuses what systemctl of systemd 252 refuses. A test compares it with the installed systemctl.
package unitfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"slipway/internal/platform/hostexec"
)

const etc = "/etc/systemd/system"

// loadPath lists the folders of unit files; a file in an earlier folder hides its namesakes in later ones (systemd.unit(5)).
var loadPath = []string{etc, "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

// system are units of CoreOS that the configs of bootstrap hosts name without bringing them, by file.
var system = map[string]string{
	"systemd-journal-gatewayd.socket":  "[Socket]\nListenStream=19531\n\n[Install]\nWantedBy=sockets.target\n",
	"systemd-journal-gatewayd.service": "[Service]\nExecStart=/usr/lib/systemd/systemd-journal-gatewayd\n",
	"zincati.service":                  "[Service]\nExecStart=/usr/libexec/zincati agent\n\n[Install]\nWantedBy=multi-user.target\n",
}

// WriteSystem adds the units of CoreOS to a tree.
func WriteSystem(root hostexec.Root) error {
	const dir = "/usr/lib/systemd/system"
	if err := os.MkdirAll(root.Path(dir), 0o755); err != nil {
		return err
	}
	for name, text := range system {
		if err := os.WriteFile(root.Path(path.Join(dir, name)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Change carries out enable, disable, mask or unmask for units, and returns what systemctl prints and its exit code. It
// changes no unit when enable refuses one.
func Change(root hostexec.Root, verb string, units []string) (said string, code int) {
	var problems []string
	for _, change := range map[string][]func(hostexec.Root, string) error{
		"enable": {Loadable, enable}, "disable": {disable}, "mask": {mask}, "unmask": {unmask},
	}[verb] {
		for _, unit := range units {
			if err := change(root, unit); err != nil {
				problems = append(problems, fmt.Sprintf("Failed to %s unit: %s\n", verb, err))
			}
		}
		if len(problems) > 0 {
			break
		}
	}
	if len(problems) == 0 {
		return "", 0
	}
	if verb == "disable" { // a unit that does not exist is as good as disabled
		return strings.Join(problems, ""), 0
	}
	return strings.Join(problems, ""), 1
}

// Loadable returns an error for a unit that does not exist or is masked: its file is empty or leads to /dev/null.
func Loadable(root hostexec.Root, unit string) error {
	file, text, err := load(root, unit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("Unit file %s does not exist.", unit) //nolint:revive,staticcheck // systemd's sentence
	case err != nil:
		return err
	case text == "":
		return fmt.Errorf("Unit file %s is masked.", file) //nolint:revive,staticcheck // systemd's sentence
	}
	return nil
}

// load reads a unit file: text is empty when it is a mask. The file of an instance is its template's.
func load(root hostexec.Root, unit string) (file, text string, err error) {
	names := []string{unit}
	if at := strings.Index(unit, "@"); at >= 0 {
		names = append(names, unit[:at+1]+path.Ext(unit))
	}
	for _, name := range names {
		for _, dir := range loadPath {
			file := path.Join(dir, name)
			if target, err := os.Readlink(root.Path(file)); err == nil && target == os.DevNull {
				return file, "", nil
			}
			content, err := os.ReadFile(root.Path(file))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return file, string(content), err
		}
	}
	return "", "", fs.ErrNotExist
}

// enable links a unit into the targets of its install section; one without such a section stays as it is.
func enable(root hostexec.Root, unit string) error {
	file, text, err := load(root, unit)
	if err != nil {
		return err
	}
	for _, place := range wanted(text, unit) {
		if err := os.MkdirAll(filepath.Dir(root.Path(place)), 0o755); err != nil {
			return err
		}
		if err := os.Remove(root.Path(place)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Symlink(file, root.Path(place)); err != nil {
			return err
		}
	}
	return nil
}

// wanted returns the links that enable a unit.
func wanted(text, unit string) []string {
	var links []string
	install := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			install = line == "[Install]"
			continue
		}
		key, targets, _ := strings.Cut(line, "=")
		suffix := map[string]string{"WantedBy": ".wants", "RequiredBy": ".requires"}[key]
		if !install || suffix == "" {
			continue
		}
		for _, target := range strings.Fields(targets) {
			links = append(links, path.Join(etc, target+suffix, unit))
		}
	}
	return links
}

// disable removes the links of a unit. A masked unit keeps them.
func disable(root hostexec.Root, unit string) error {
	_, text, missing := load(root, unit)
	if missing == nil && text == "" {
		return nil
	}
	for _, pattern := range []string{"*.wants", "*.requires"} {
		links, err := filepath.Glob(root.Path(path.Join(etc, pattern, unit)))
		if err != nil {
			return err
		}
		for _, link := range links {
			if err := os.Remove(link); err != nil {
				return err
			}
			_ = os.Remove(filepath.Dir(link)) // unless another unit is in it
		}
	}
	if errors.Is(missing, fs.ErrNotExist) {
		return fmt.Errorf("Unit file %s does not exist.", unit) //nolint:revive,staticcheck // systemd's sentence
	}
	return missing
}

func mask(root hostexec.Root, unit string) error {
	place := root.Path(path.Join(etc, unit))
	if target, err := os.Readlink(place); err == nil && target == os.DevNull {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	err := os.Symlink(os.DevNull, place)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("File %s already exists.", path.Join(etc, unit)) //nolint:revive,staticcheck // systemd's sentence
	}
	return err
}

func unmask(root hostexec.Root, unit string) error {
	place := root.Path(path.Join(etc, unit))
	if target, err := os.Readlink(place); err == nil && target == os.DevNull {
		return os.Remove(place)
	}
	return nil
}

// Startable returns the sentence of systemctl for the first unit that cannot be started, and its exit code. Only unit
// names that managed lists are looked at: files of the other units of CoreOS are not in the tree.
func Startable(root hostexec.Root, units []string, managed []string) (said string, code int) {
	for _, unit := range units {
		if !slices.Contains(managed, unit) {
			continue
		}
		_, text, err := load(root, unit)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Sprintf("Failed to start %s: Unit %s not found.\n", unit, unit), 5
		case err != nil:
			return err.Error() + "\n", 1
		case text == "":
			return fmt.Sprintf("Failed to start %s: Unit %s is masked.\n", unit, unit), 1
		}
	}
	return "", 0
}
