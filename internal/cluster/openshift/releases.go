package openshift

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/model"
)

// Support levels of a release (openshift-version of the API document).
const (
	SupportBeta        = "beta"
	SupportProduction  = "production"
	SupportMaintenance = "maintenance"
	SupportEndOfLife   = "end-of-life"
)

// Release is an OpenShift version that clusters can be installed with. Its JSON is an
// item of the release list of a deployment (release-image of the API document); a version
// may have an item for each architecture.
type Release struct {
	OpenShiftVersion string   `json:"openshift_version,omitempty"` // 4.22 or 4.22-multi; taken from the version when empty
	Version          string   `json:"version"`                     // 4.22.0, 4.22.0-multi
	DisplayName      string   `json:"display_name,omitempty"`      // the version when empty
	CPUArchitecture  string   `json:"cpu_architecture,omitempty"`  // of the image: x86_64, arm64, ppc64le, s390x, multi
	CPUArchitectures []string `json:"cpu_architectures,omitempty"` // of hosts; the image's when empty
	SupportLevel     string   `json:"support_level,omitempty"`     // beta for a pre-release and production for another when empty
	Default          bool     `json:"default,omitempty"`
	Image            string   `json:"url"` // pull specification of the release image

	// images maps each architecture to its image; ParseReleases fills them.
	images map[string]string
}

// Multi reports whether one image of the release serves several architectures at once.
func (r Release) Multi() bool {
	return r.CPUArchitecture == model.Multi || strings.HasSuffix(r.Version, "-"+model.Multi)
}

// Releases are the available versions, newest first.
type Releases []Release

// ParseReleases reads a JSON list of releases, makes one of the items of each version and
// puts the newest first. The newest production release becomes the default when none is
// marked. An empty list is no error where release sources fill it later.
func ParseReleases(data []byte) (Releases, error) {
	var items []Release
	if err := json.Unmarshal(data, &items); err != nil {
		return nil, fmt.Errorf("read releases: %w", err)
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("read releases: require at least one, found none")
	}
	var list Releases
	for i, item := range items {
		if err := item.complete(); err != nil {
			return nil, fmt.Errorf("read release %d (%s): %w", i+1, item.Version, err)
		}
		if err := list.add(item); err != nil {
			return nil, fmt.Errorf("read releases: %w", err)
		}
	}
	if n := len(slices.Collect(list.defaults())); n > 1 {
		return nil, fmt.Errorf("read releases: require at most one default, found %d", n)
	}
	list.sort()
	list.markDefault()
	return list, nil
}

// complete checks an item and fills its missing fields.
func (r *Release) complete() error {
	v, err := semver.NewVersion(r.Version)
	if err != nil {
		return fmt.Errorf("version: require one such as 4.22.0, found %q: %w", r.Version, err)
	}
	if r.OpenShiftVersion != "" {
		if _, err := semver.NewVersion(r.OpenShiftVersion); err != nil {
			return fmt.Errorf("openshift_version: require one such as 4.22, found %q: %w", r.OpenShiftVersion, err)
		}
	}
	if r.CPUArchitecture == "" && len(r.CPUArchitectures) == 0 {
		return fmt.Errorf("cpu_architectures: require at least one, found none")
	}
	if r.CPUArchitecture != "" && len(r.CPUArchitectures) == 0 && r.CPUArchitecture != model.Multi {
		r.CPUArchitectures = []string{r.CPUArchitecture}
	}
	if err := normaliseArchitectures(&r.CPUArchitecture, r.CPUArchitectures); err != nil {
		return err
	}
	if r.CPUArchitecture == model.Multi && len(r.CPUArchitectures) == 0 {
		return fmt.Errorf("cpu_architectures: require those that image %s serves, found none", model.Multi)
	}
	if r.SupportLevel == "" {
		r.SupportLevel = levelOfRelease(v)
	}
	known := []string{SupportBeta, SupportProduction, SupportMaintenance, SupportEndOfLife}
	if !slices.Contains(known, r.SupportLevel) {
		return fmt.Errorf("support_level: require one of %v, found %q", known, r.SupportLevel)
	}
	r.OpenShiftVersion = cmp.Or(r.OpenShiftVersion, minorOf(v, r.Multi()))
	r.DisplayName = cmp.Or(r.DisplayName, r.Version)
	return nil
}

// normaliseArchitectures maps architectures to the names that lists of releases use, and refuses unknown ones.
func normaliseArchitectures(image *string, hosts []string) error {
	if *image != "" {
		*image = model.Architecture(*image)
	}
	for i, name := range hosts {
		hosts[i] = model.Architecture(name)
		if !slices.Contains(model.Architectures(), hosts[i]) {
			return fmt.Errorf("cpu_architectures: require x86_64, arm64, ppc64le or s390x, found %q", name)
		}
	}
	if *image != "" && *image != model.Multi && !slices.Contains(hosts, *image) {
		return fmt.Errorf("cpu_architecture: require multi or one of cpu_architectures %v, found %q", hosts, *image)
	}
	return nil
}

// levelOfRelease returns the level of a release without one in the list. Builds of several architectures and of the community are
// marked like pre-releases, but do not count as such.
func levelOfRelease(v *semver.Version) string {
	pre := v.Prerelease()
	for _, mark := range []string{"ec.", "fc.", "rc.", "nightly", "0.nightly", "0.ci"} {
		if strings.HasPrefix(pre, mark) {
			return SupportBeta
		}
	}
	return SupportProduction
}

func minorOf(v *semver.Version, isMulti bool) string {
	minor := fmt.Sprintf("%d.%d", v.Major(), v.Minor())
	if isMulti {
		return minor + "-" + model.Multi
	}
	return minor
}

// add puts an item into the list, with the others of its version if there are any.
func (l *Releases) add(item Release) error {
	covers := item.CPUArchitectures
	if item.CPUArchitecture != "" && item.CPUArchitecture != model.Multi {
		covers = []string{item.CPUArchitecture}
	}
	i := slices.IndexFunc(*l, func(r Release) bool { return r.Version == item.Version })
	if i < 0 {
		item.images = map[string]string{}
		*l, i = append(*l, item), len(*l)
	}
	r := &(*l)[i]
	for _, name := range covers {
		if _, twice := r.images[name]; twice {
			return fmt.Errorf("require each version once for an architecture, found %s for %s twice", item.Version, name)
		}
		r.images[name] = item.Image
		if !slices.Contains(r.CPUArchitectures, name) {
			r.CPUArchitectures = append(r.CPUArchitectures, name)
		}
	}
	if item.CPUArchitecture == model.X8664 {
		r.Image, r.CPUArchitecture = item.Image, model.X8664 // the default for a cluster without an architecture
	}
	r.Default = r.Default || item.Default
	return nil
}

func (l Releases) sort() {
	parsed := make(map[string]*semver.Version, len(l))
	for _, r := range l {
		parsed[r.Version] = semver.MustParse(r.Version) // complete has read it
	}
	// A build of several architectures stands behind the release it is made of.
	slices.SortStableFunc(l, func(a, b Release) int { return parsed[b.Version].Compare(parsed[a.Version]) })
}

func (l Releases) defaults() func(yield func(Release) bool) {
	return func(yield func(Release) bool) {
		for _, r := range l {
			if r.Default && !yield(r) {
				return
			}
		}
	}
}

func (l Releases) markDefault() {
	if len(l) == 0 || slices.ContainsFunc(l, func(r Release) bool { return r.Default }) {
		return
	}
	usual := func(r Release) bool { return r.SupportLevel == SupportProduction && !r.Multi() }
	if i := slices.IndexFunc(l, usual); i >= 0 {
		l[i].Default = true
		return
	}
	i := slices.IndexFunc(l, func(r Release) bool { return r.SupportLevel == SupportProduction })
	l[max(i, 0)].Default = true
}

// Find resolves a client's request: a whole version, a minor version such as "4.22" or "4.22-multi" (its newest
// release), or nothing (the default). The error is a model.ErrInvalid that lists the available versions.
func (l Releases) Find(version string) (Release, error) {
	for _, r := range l {
		if r.Version == version || version == "" && r.Default {
			return r, nil
		}
	}
	for _, r := range l {
		if r.minor() == version {
			return r, nil
		}
	}
	return Release{}, model.Invalidf("OpenShift version %q is not available, require one of %v", version, l.known())
}

func (l Releases) known() []string {
	known := make([]string, len(l))
	for i, r := range l {
		known[i] = r.Version
	}
	return known
}

func (r Release) minor() string {
	v, err := semver.NewVersion(r.Version)
	if err != nil {
		return r.OpenShiftVersion
	}
	return minorOf(v, r.Multi())
}

// Latest keeps the newest release of every minor version, and of its builds for several
// architectures.
func (l Releases) Latest() Releases {
	seen := map[string]bool{}
	var out Releases
	for _, r := range l {
		if minor := r.minor(); !seen[minor] {
			seen[minor] = true
			out = append(out, r)
		}
	}
	return out
}

// Matching keeps the releases whose version is, or begins with the numbers of, a version.
// Nothing matches all. The error is a model.ErrInvalid.
func (l Releases) Matching(version string) (Releases, error) {
	if version == "" {
		return l, nil
	}
	if _, err := semver.NewVersion(version); err != nil {
		return nil, model.Invalidf("version: require a version or its beginning such as 4.22, found %q", version)
	}
	var out Releases
	for _, r := range l {
		rest, begins := strings.CutPrefix(r.Version, version)
		if begins && (rest == "" || rest[0] == '.' || rest[0] == '-') {
			out = append(out, r)
		}
	}
	return out, nil
}
