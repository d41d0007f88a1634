package openshift

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

// FeatureSupport is how well one feature is supported in a setting.
type FeatureSupport struct {
	ID                FeatureID
	Operator          string // name of the operator; empty for other features
	Level             Level
	Reason            Reason // empty while the feature can be used
	Incompatibilities []FeatureID
	Dependencies      []FeatureID // of an operator
}

// Names in the limits of the table.
const (
	x8664   = "x86_64"
	arm64   = "arm64"
	s390x   = "s390x"
	ppc64le = "ppc64le"
	multi   = "multi"

	none     = "none"
	nutanix  = "nutanix"
	vsphere  = "vsphere"
	external = "external"
	oci      = "oci"
)

// Levels returns how well each feature is supported. Without a platform the result includes the platforms; with a platform it includes
// its network management instead. The error is a model.ErrInvalid.
func Levels(s Setting) (map[FeatureID]Level, error) {
	list, err := Detailed(s)
	if err != nil {
		return nil, err
	}
	out := make(map[FeatureID]Level, len(list))
	for _, f := range list {
		out[f.ID] = f.Level
	}
	return out, nil
}

// Detailed returns Levels with reasons, in the order of the table, operators last.
func Detailed(s Setting) ([]FeatureSupport, error) {
	in, err := s.read()
	if err != nil {
		return nil, err
	}
	out := make([]FeatureSupport, 0, len(features))
	for i := range features {
		r := &features[i]
		if !r.shown(s.Platform) {
			continue
		}
		level, l := r.levelIn(in)
		support := FeatureSupport{
			ID: r.id, Operator: r.operator, Level: level,
			Incompatibilities: shownOf(r.exclusionsIn(in), s.Platform), Dependencies: r.needs,
		}
		if l != nil {
			support.Reason = l.reason
		}
		out = append(out, support)
	}
	return out, nil
}

// shown leaves out features that a choice of the platform has decided.
func (r *row) shown(platform string) bool {
	if r.id == FeaturePlatformManagedNetworking {
		return platform != ""
	}
	return platform == "" || !isPlatform(r.id)
}

func isPlatform(id FeatureID) bool {
	return slices.ContainsFunc(platformFeatures, func(p row) bool { return p.id == id })
}

// shownOf leaves the platforms out of a list of features where one is chosen.
func shownOf(list []FeatureID, platform string) []FeatureID {
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
		if !slices.Contains(in.platforms, platformNames[r.id]) {
			continue
		}
		if level, _ := r.levelIn(in); !level.usable() {
			return model.Invalidf("platform_type: require a platform that OpenShift %s has on %s, found %q",
				s.Version, in.architecture, platformNames[r.id])
		}
	}
	return nil
}

// platformNames are the names that limits have for the platforms.
var platformNames = map[FeatureID]string{
	FeatureBaremetal: "baremetal", FeatureNonePlatform: none, FeatureNutanix: nutanix, FeatureVSphere: vsphere,
	FeatureExternal: external, FeatureExternalOCI: oci,
}

// setting is a Setting that was read.
type setting struct {
	version      *semver.Version // major and minor only; nil: the newest
	architecture string
	platforms    []string // the names that limits have for the platform
}

func (s Setting) read() (setting, error) {
	in := setting{architecture: architectureOf(s.Architecture)}
	if !slices.Contains([]string{x8664, arm64, s390x, ppc64le, multi}, in.architecture) {
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

// architectureOf maps the two names of one architecture to one.
func architectureOf(name string) string {
	switch name {
	case "":
		return x8664
	case "aarch64":
		return arm64
	}
	return name
}

// before reports whether the version is older than a minor version; no version is the newest.
func (in setting) before(version string) bool {
	return in.version != nil && in.version.LessThan(semver.MustParse(version))
}

func (l *limit) fits(in setting) bool {
	return (l.from == "" || !in.before(l.from)) && (l.before == "" || in.before(l.before)) &&
		(len(l.architectures) == 0 || slices.Contains(l.architectures, in.architecture)) &&
		(len(l.platforms) == 0 || slices.ContainsFunc(l.platforms, func(p string) bool { return slices.Contains(in.platforms, p) }))
}

// noArchitecture is the limit of every feature where a version lacks the architecture.
var noArchitecture = &limit{level: LevelUnavailable, reason: ReasonArchitecture}

// levelIn returns the level of a feature, and its limit, if there is one.
func (r *row) levelIn(in setting) (Level, *limit) {
	if !architectureIn(in.architecture, in).usable() {
		return LevelUnavailable, noArchitecture
	}
	for i := range r.limits {
		if l := &r.limits[i]; l.fits(in) {
			return l.level, l
		}
	}
	if r.level == "" {
		return LevelSupported, nil
	}
	return r.level, nil
}

func (r *row) exclusionsIn(in setting) []FeatureID {
	out := []FeatureID{}
	for _, e := range r.excludes {
		if e.before == "" || in.before(e.before) {
			out = append(out, e.features...)
		}
	}
	return out
}
