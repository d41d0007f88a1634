package oci

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// timeLayout is the form of times in the addresses of snapshot.debian.org.
const timeLayout = "20060102T150405Z"

// Lock lists the Debian packages of the images (deploy/images/lock writes it).
type Lock struct {
	// Time is when Debian's lists were read: the time of all files of packages.
	Time     time.Time
	Packages []Package
}

// Package is one Debian package.
type Package struct {
	Image                 string // "both", or the name of the image that alone has it
	Architecture          string // "amd64", "arm64" or "all"
	Name, Version         string
	Archive, Path, SHA256 string // Archive is "debian" or "debian-security"
}

// ReadLock reads packages.lock.
func ReadLock(r io.Reader) (*Lock, error) {
	lock := &Lock{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		fields := strings.Fields(text)
		switch {
		case len(fields) == 0 || strings.HasPrefix(text, "#"):
		case len(fields) == 2 && fields[0] == "time":
			at, err := time.Parse(timeLayout, fields[1])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			lock.Time = at
		case len(fields) == 7 && len(fields[6]) == 64:
			lock.Packages = append(lock.Packages, Package{
				Image: fields[0], Architecture: fields[1], Name: fields[2], Version: fields[3], Archive: fields[4], Path: fields[5],
				SHA256: fields[6],
			})
		default:
			return nil, fmt.Errorf("line %d: require image, architecture, package, version, archive, path and SHA-256, found %q", n, text)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if lock.Time.IsZero() || len(lock.Packages) == 0 {
		return nil, fmt.Errorf("require a line with a time and lines of packages")
	}
	return lock, nil
}

// of returns the packages of an image for an architecture, by name.
func (l *Lock) of(image, architecture string) []Package {
	var all []Package
	for _, p := range l.Packages {
		if (p.Image == "both" || p.Image == image) && (p.Architecture == architecture || p.Architecture == "all") {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b Package) int { return strings.Compare(a.Name, b.Name) })
	return all
}
