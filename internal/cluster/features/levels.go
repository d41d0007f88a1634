package features

import (
	"slices"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/model"
)

// Setting lists the inputs that the support of features depends on.
type Setting struct {
	Version      string // of OpenShift: 4.22, 4.22.9 or 4.22.9-multi; empty counts as the newest
	Architecture string // x86_64 (also when empty), aarch64, arm64, ppc64le, s390x, multi
	Platform     string // empty: any
	ExternalName string // of an external platform
}

// Support is how well one feature is supported in a setting.
type Support struct {
	ID                ID
	Operator          string // name of the operator; empty for other features
	Level             Level
	Reason            Reason // empty while the feature can be used
	Incompatibilities []ID
	Dependencies      []ID // of an operator
}

// Names in the limits of the table.
const (
	none     = "none"
	nutanix  = "nutanix"
	vsphere  = "vsphere"
	external = "external"
	oci      = "oci"
)

// Levels returns how well each feature is supported. Without a platform the result includes the platforms; with a platform it includes
// its network management instead. The error is a model.ErrInvalid.
func (t *Table) Levels(s Setting) (map[ID]Level, error) {
	list, err := t.Detailed(s)
	if err != nil {
		return nil, err
	}
	out := make(map[ID]Level, len(list))
	for _, f := range list {
		out[f.ID] = f.Level
	}
	return out, nil
}

// Detailed returns Levels with reasons, in the order of the table, operators last.
func (t *Table) Detailed(s Setting) ([]Support, error) {
	in, err := s.read()
	if err != nil {
		return nil, err
	}
	out := make([]Support, 0, len(t.rows))
	for i := range t.rows {
		r := &t.rows[i]
		if !r.shown(s.Platform) {
			continue
		}
		level, l := r.levelIn(in)
		support := Support{
			ID: r.ID, Operator: r.Operator, Level: level,
			Incompatibilities: shownOf(r.exclusionsIn(in), s.Platform), Dependencies: r.Needs,
		}
		if l != nil {
			support.Reason = l.Reason
		}
		out = append(out, support)
	}
	return out, nil
}

// shown leaves out features that a choice of the platform has decided.
func (r *Row) shown(platform string) bool {
	if r.ID == PlatformManagedNetworking {
		return platform != ""
	}
	return platform == "" || !isPlatform(r.ID)
}

func isPlatform(id ID) bool {
	return slices.ContainsFunc(platformFeatures, func(p Row) bool { return p.ID == id })
}

// shownOf leaves the platforms out of a list of features where one is chosen.
func shownOf(list []ID, platform string) []ID {
	if platform == "" {
		return list
	}
	return slices.DeleteFunc(list, isPlatform)
}

// CheckPlatform refuses a setting that no cluster can have: the version lacks the architecture, or the platform is not
// available in the version and on the architecture. The error is a model.ErrInvalid.
func CheckPlatform(s Setting) error {
	in, err := s.read()
	if err != nil {
		return err
	}
	if !architectureIn(in.architecture, in).usable() {
		return model.Invalidf("cpu_architecture: require one that OpenShift %s has, found %q", s.Version, s.Architecture)
	}
	for i := range platformFeatures {
		r := &platformFeatures[i]
		if !slices.Contains(in.platforms, platformNames[r.ID]) {
			continue
		}
		if level, _ := r.levelIn(in); !level.usable() {
			return model.Invalidf("platform_type: require a platform that OpenShift %s has on %s, found %q",
				s.Version, in.architecture, platformNames[r.ID])
		}
	}
	return nil
}

// platformNames are the names that limits have for the platforms.
var platformNames = map[ID]string{
	Baremetal: "baremetal", NonePlatform: none, Nutanix: nutanix, VSphere: vsphere,
	External: external, ExternalOCI: oci,
}

// setting is a Setting that was read.
type setting struct {
	version      *semver.Version // major and minor only; nil: the newest
	architecture string
	platforms    []string // the names that limits have for the platform
}

func (s Setting) read() (setting, error) {
	in := setting{architecture: model.Architecture(s.Architecture)}
	if in.architecture != model.Multi && !slices.Contains(model.Architectures(), in.architecture) {
		return in, model.Invalidf("cpu_architecture: require x86_64, aarch64, arm64, ppc64le, s390x or multi, found %q", s.Architecture)
	}
	if s.Version != "" {
		v, err := semver.NewVersion(s.Version)
		if err != nil {
			return in, model.Invalidf("openshift_version: require a version such as 4.22 or 4.22.9, found %q", s.Version)
		}
		in.version = semver.New(v.Major(), v.Minor(), 0, "", "")
	}
	if s.ExternalName != "" && s.Platform != external {
		return in, model.Invalidf("external_platform_name: require platform_type external with a name, found %q", s.Platform)
	}
	if s.Platform != "" {
		in.platforms = append(in.platforms, s.Platform)
	}
	if s.ExternalName == oci {
		in.platforms = append(in.platforms, oci)
	}
	return in, nil
}

// before reports whether the version is older than a minor version; no version is the newest.
func (in setting) before(version string) bool {
	return in.version != nil && in.version.LessThan(semver.MustParse(version))
}

func (l *Limit) fits(in setting) bool {
	return (l.From == "" || !in.before(l.From)) && (l.Before == "" || in.before(l.Before)) &&
		(len(l.Architectures) == 0 || slices.Contains(l.Architectures, in.architecture)) &&
		(len(l.Platforms) == 0 || slices.ContainsFunc(l.Platforms, func(p ID) bool { return slices.Contains(in.platforms, platformNames[p]) }))
}

// noArchitecture is the limit of every feature where a version lacks the architecture.
var noArchitecture = &Limit{Level: LevelUnavailable, Reason: ReasonArchitecture}

// levelIn returns the level of a feature, and its limit, if there is one.
func (r *Row) levelIn(in setting) (Level, *Limit) {
	if !architectureIn(in.architecture, in).usable() {
		return LevelUnavailable, noArchitecture
	}
	for i := range r.Limits {
		if l := &r.Limits[i]; l.fits(in) {
			return l.Level, l
		}
	}
	if r.Level == "" {
		return LevelSupported, nil
	}
	return r.Level, nil
}

func (r *Row) exclusionsIn(in setting) []ID {
	out := []ID{}
	for _, e := range r.Excludes {
		if e.Before == "" || in.before(e.Before) {
			out = append(out, e.Features...)
		}
	}
	return out
}
