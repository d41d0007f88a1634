package version

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
)

// BuildID names the program among the versions of workers: the number, and the time and the
// hash of the commit where they are known ("0.1.0+20261123011800.g1a2b3c4d5e6f"). Programs
// that were built from one commit with different changes share their id.
func (i Info) BuildID() string {
	if i.Commit == "" || i.Time.IsZero() {
		return i.Version
	}
	id := fmt.Sprintf("%s+%s.g%.12s", i.Version, i.Time.UTC().Format("20060102150405"), i.Commit)
	if i.Modified {
		id += ".modified"
	}
	return id
}

// CheckBuildID returns an error unless id is a semantic version: others have no order.
func CheckBuildID(id string) error {
	if _, err := semver.StrictNewVersion(id); err != nil {
		return fmt.Errorf("require a semantic version such as 0.1.0+20261123.1, found %q", id)
	}
	return nil
}

// Newer reports whether the build id a belongs to a newer program than b: by the number, and then
// by what follows the plus sign, field by field, numbers as numbers. Semantic versions leave the
// latter without an order; here the time of the commit comes first in it. An id that is no semantic
// version is the oldest.
func Newer(a, b string) bool {
	left, err := semver.StrictNewVersion(a)
	if err != nil {
		return false
	}
	right, err := semver.StrictNewVersion(b)
	if err != nil {
		return true
	}
	if order := left.Compare(right); order != 0 {
		return order > 0
	}
	if left.Metadata() == "" || right.Metadata() == "" {
		return left.Metadata() != "" && right.Metadata() == ""
	}
	return fields(left).GreaterThan(fields(right))
}

// fields gives the metadata of a version the order of a pre-release: "9" before "10", and "a" before "a.b".
func fields(v *semver.Version) *semver.Version {
	return semver.New(0, 0, 0, v.Metadata(), "")
}
