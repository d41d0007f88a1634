package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	omitempty "github.com/clarketm/json" // encoding/json, but leaves out empty structs as Butane does
	"github.com/coreos/ignition/v2/config/v3_1"
	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/coreos/ignition/v2/config/v3_3"
	"github.com/coreos/ignition/v2/config/v3_4"
	"github.com/coreos/ignition/v2/config/v3_5"
	"github.com/coreos/vcontext/report"

	"slipway/internal/model"
)

// spec is the support of coreos/ignition for one specification version. A parser accepts its own version and
// all older ones.
type spec struct {
	version *semver.Version
	merge   func(configs [][]byte) ([]byte, error)
	check   func(config []byte) error
}

// specs are the versions that images of OpenShift 4.6 and later understand, oldest first.
var specs = []spec{
	newSpec("3.1.0", v3_1.ParseCompatibleVersion, v3_1.Merge),
	newSpec("3.2.0", v3_2.ParseCompatibleVersion, v3_2.Merge),
	newSpec("3.3.0", v3_3.ParseCompatibleVersion, v3_3.Merge),
	newSpec("3.4.0", v3_4.ParseCompatibleVersion, v3_4.Merge),
	newSpec("3.5.0", v3_5.ParseCompatibleVersion, v3_5.Merge),
}

func newSpec[C any](version string, parse func([]byte) (C, report.Report, error), merge func(C, C) C) spec {
	read := func(config []byte) (C, error) {
		c, r, err := parse(config)
		return c, explain(r, err)
	}
	return spec{
		version: semver.MustParse(version),
		check: func(config []byte) error {
			_, err := read(config)
			return err
		},
		merge: func(configs [][]byte) ([]byte, error) {
			var all C
			for i, config := range configs {
				c, err := read(config)
				if err != nil {
					return nil, err
				}
				if i == 0 {
					all = c
				} else {
					all = merge(all, c)
				}
			}
			return omitempty.Marshal(all)
		},
	}
}

// explain turns the report of coreos/ignition into one error: only fatal entries, each with its place in the
// config.
func explain(r report.Report, err error) error {
	if err == nil {
		return nil
	}
	var found []string
	for _, e := range r.Entries {
		if e.Kind.IsFatal() {
			found = append(found, strings.TrimPrefix(strings.TrimPrefix(e.String(), "error at "), "error: "))
		}
	}
	if len(found) == 0 {
		found = []string{err.Error()}
	}
	return model.Invalidf("invalid Ignition config: %s", strings.Join(found, "; "))
}

// Version returns the specification version that a config names.
func Version(config []byte) (*semver.Version, error) {
	var stub struct {
		Ignition struct {
			Version string `json:"version"`
		} `json:"ignition"`
	}
	if err := json.Unmarshal(config, &stub); err != nil {
		return nil, model.Invalidf("invalid Ignition config: %s", describe(err))
	}
	if stub.Ignition.Version == "" {
		return nil, model.Invalidf("invalid Ignition config: ignition.version is required")
	}
	v, err := semver.StrictNewVersion(stub.Ignition.Version)
	if err != nil {
		return nil, model.Invalidf("invalid Ignition config: require ignition.version like 3.1.0, found %q", stub.Ignition.Version)
	}
	return v, nil
}

func describe(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("not JSON at byte %d: %s", syntax.Offset, syntax)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// specFor finds the oldest specification that reads a config of version v.
func specFor(v *semver.Version) (spec, error) {
	for _, s := range specs {
		if v.Major() == s.version.Major() && v.Prerelease() == "" && !v.GreaterThan(s.version) {
			return s, nil
		}
	}
	return spec{}, model.Invalidf("invalid Ignition config: require ignition.version 3.0.0 to %s, found %s",
		specs[len(specs)-1].version, v)
}

// Check validates a config against the specification it names. An error is a model.ErrInvalid that names the
// place of every fault.
func Check(config []byte) error {
	v, err := Version(config)
	if err != nil {
		return err
	}
	s, err := specFor(v)
	if err != nil {
		return err
	}
	return s.check(config)
}

// Merge lays configs over each other, later ones over earlier ones, by the rules of
// coreos/ignition: files by path, units and users by name. The result has the newest
// version among them, at least 3.1.0. An error is a model.ErrInvalid.
func Merge(configs ...[]byte) ([]byte, error) {
	newest := specs[0]
	for _, config := range configs {
		v, err := Version(config)
		if err != nil {
			return nil, err
		}
		s, err := specFor(v)
		if err != nil {
			return nil, err
		}
		if s.version.GreaterThan(newest.version) {
			newest = s
		}
	}
	merged, err := newest.merge(configs)
	if err != nil {
		return nil, err
	}
	// Two valid configs can make an invalid one: the same file as contents and as a link.
	if err := newest.check(merged); err != nil {
		return nil, err
	}
	return merged, nil
}
