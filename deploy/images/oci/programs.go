package oci

import (
	"archive/tar"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// systems are the architectures of images by Go's names: what programs for them say (elf(5), e_machine), and the folder in which Debian
// keeps libraries for them (https://wiki.debian.org/Multiarch/Tuples).
var systems = map[string]struct {
	machine   elf.Machine
	libraries string
}{
	"amd64": {elf.EM_X86_64, "usr/lib/x86_64-linux-gnu"},
	"arm64": {elf.EM_AARCH64, "usr/lib/aarch64-linux-gnu"},
}

// ErrDynamic is the error of a program that needs a C library where an image takes static programs only.
var ErrDynamic = errors.New("require a static program (CGO_ENABLED=0)")

// linked says what a program needs of its system.
type linked struct {
	machine     elf.Machine
	interpreter string // empty: the program is static, or a library
	libraries   []string
}

// read reads how the file of an entry is linked; nil: it is no program.
func (e entry) read() (*linked, error) {
	from, err := e.open()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	magic := make([]byte, len(elf.ELFMAG))
	if _, err := from.ReadAt(magic, 0); err != nil || string(magic) != elf.ELFMAG {
		return nil, nil //nolint:nilnil // shorter files are no programs
	}
	program, err := elf.NewFile(from)
	if err != nil {
		return nil, err
	}
	found := &linked{machine: program.Machine}
	for _, part := range program.Progs {
		if part.Type != elf.PT_INTERP {
			continue
		}
		text, err := io.ReadAll(part.Open())
		if err != nil {
			return nil, err
		}
		found.interpreter = strings.TrimRight(string(text), "\x00")
	}
	found.libraries, err = program.ImportedLibraries()
	return found, err
}

// requireStatic refuses a program that needs a library.
func (t tree) requireStatic(name, image string) error {
	found, err := t[name].read()
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", name, err)
	case found == nil:
		return fmt.Errorf("%s: require a program of Linux, found another file", name)
	case found.interpreter != "":
		return fmt.Errorf("%s of %s: %w, found one that needs %s", name, image, ErrDynamic, found.interpreter)
	case len(found.libraries) > 0:
		return fmt.Errorf("%s of %s: %w, found one that needs %s", name, image, ErrDynamic, strings.Join(found.libraries, ", "))
	}
	return nil
}

// forHosts is the folder of the programs for hosts and new clusters, of all architectures.
const forHosts = "usr/lib/slipway"

// requireComplete refuses an image with a program that cannot run in it: it is for another architecture, or lacks a library.
func (t tree) requireComplete(architecture string) error {
	system := systems[architecture]
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if t[name].kind != tar.TypeReg || path.Dir(name) == forHosts {
			continue
		}
		found, err := t[name].read()
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if found == nil {
			continue
		}
		if found.machine != system.machine {
			failed = append(failed, fmt.Errorf("%s: require a program for %s, found one for %s", name, architecture, found.machine))
		}
		var needed []string
		if found.interpreter != "" {
			needed = append(needed, place(found.interpreter))
		}
		for _, library := range found.libraries {
			needed = append(needed, system.libraries+"/"+library)
		}
		for _, file := range needed {
			if _, there := t[file]; !there {
				failed = append(failed, fmt.Errorf("%s needs %s, which no package of the image has", name, path.Base(file)))
			}
		}
	}
	return errors.Join(failed...)
}
