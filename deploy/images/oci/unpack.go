package oci

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// dropped are files of packages that nothing in an image reads: documentation but licences, translations, what init systems and package
// managers run, the compiler of PostgreSQL's queries, which the service switches off, and extensions with libraries of their own.
// A pattern selects what lies below it, too.
var dropped = []string{
	"usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian", "usr/share/bug", "usr/share/bash-completion",
	"usr/share/gdb", "usr/share/apport", "usr/share/zoneinfo/posix", "usr/share/zoneinfo/right", "usr/share/debconf", "usr/share/menu",
	"usr/lib/systemd", "usr/lib/udev", "usr/lib/tmpfiles.d", "usr/lib/*/gconv", "usr/sbin", "etc/init.d", "etc/cron.*", "etc/apparmor.d",
	"etc/logrotate.d", "etc/update-motd.d", "etc/ca-certificates", "var/lib/systemd", "boot", "home", "usr/games",
	"usr/share/postgresql/*/man", "usr/lib/postgresql/*/lib/bitcode", "usr/lib/postgresql/*/lib/llvmjit*",
	"usr/lib/postgresql/*/lib/pgxml.so", "usr/lib/postgresql/*/lib/uuid-ossp.so", "usr/lib/postgresql/*/lib/pgxs",
}

// kept are the programs of PostgreSQL that the service starts, and psql for its operators.
var kept = []string{"initdb", "pg_dump", "pg_restore", "postgres", "psql"}

// merged are folders of Debian that are links into usr (https://wiki.debian.org/UsrMerge): packages name files by both paths.
var merged = []string{"bin", "lib", "lib64", "sbin"}

// unpack adds the files of a package. dpkg-deb reads it, and runs nothing of it.
func (t tree) unpack(ctx context.Context, file string, p Package) error {
	control, err := exec.CommandContext(ctx, "dpkg-deb", "--field", file).Output()
	if err != nil {
		return fmt.Errorf("read package %s: %w", p.Name, err)
	}
	// Where programs that look for known vulnerabilities find the packages of an image without dpkg.
	t.file("var/lib/dpkg/status.d/"+p.Name, 0o644, control)
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", file)
	said := &bytes.Buffer{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("read package %s: %w", p.Name, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("read package %s: %w", p.Name, err)
	}
	added := t.add(tar.NewReader(out))
	if added == nil {
		_, added = io.Copy(io.Discard, out) // padding
	}
	_ = out.Close()
	if err := errors.Join(added, cmd.Wait()); err != nil {
		return fmt.Errorf("read package %s: %w: %s", p.Name, err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}

func (t tree) add(from *tar.Reader) error {
	for {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := place(header.Name)
		if name == "." || drops(name) {
			continue
		}
		switch header.Typeflag {
		case tar.TypeDir:
			if _, found := t[name]; !found {
				t.folder(name, header.Mode, 0)
			}
		case tar.TypeSymlink:
			t.link(name, header.Linkname)
		case tar.TypeLink:
			first, found := t[place(header.Linkname)]
			if !found {
				return fmt.Errorf("%s is a link to %s, which is not in the package before it", name, header.Linkname)
			}
			t[name] = first
		case tar.TypeReg:
			data, err := io.ReadAll(from)
			if err != nil {
				return err
			}
			t.file(name, header.Mode, data)
		default:
			return fmt.Errorf("%s: require a file, folder or link, found type %q", name, header.Typeflag)
		}
	}
}

// place returns the path of a file of a package where the merged folders are links.
func place(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	first, _, _ := strings.Cut(name, "/")
	switch {
	case name == "":
		return "."
	case slices.Contains(merged, first):
		return "usr/" + name
	}
	return name
}

func drops(name string) bool {
	if rest, found := strings.CutPrefix(name, "usr/share/doc/"); found {
		return strings.Contains(rest, "/") && path.Base(rest) != "copyright"
	}
	if program, _ := path.Match("usr/lib/postgresql/*/bin/*", name); program {
		return !slices.Contains(kept, path.Base(name))
	}
	for at := name; at != "."; at = path.Dir(at) {
		for _, pattern := range dropped {
			if match, _ := path.Match(pattern, at); match {
				return true
			}
		}
	}
	return false
}
