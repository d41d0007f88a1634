package support

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/model"
)

// Release is an OpenShift version that clusters can be installed with. Its JSON is an
// item of the release list of a deployment.
type Release struct {
	Version          string   `json:"version"`           // 4.22.0
	DisplayName      string   `json:"display_name"`      // the version when empty
	CPUArchitectures []string `json:"cpu_architectures"` // x86_64, arm64, ppc64le, s390x
	SupportLevel     string   `json:"support_level"`     // production, beta, maintenance, end-of-life
	Default          bool     `json:"default"`
	Image            string   `json:"url"` // pull specification of the release image
}

// Releases are the versions on offer, newest first.
type Releases []Release

// DefaultReleases is the list of a deployment that brings none.
func DefaultReleases() Releases {
	return Releases{{
		Version: "4.22.0", DisplayName: "4.22.0",
		CPUArchitectures: []string{"x86_64", "arm64"},
		SupportLevel:     "production",
		Default:          true,
		Image:            "quay.io/openshift-release-dev/ocp-release:4.22.0-x86_64",
	}}
}

// ParseReleases reads a JSON list of releases and puts the newest first. The newest
// production release becomes the default when none is marked.
func ParseReleases(data []byte) (Releases, error) {
	var list Releases
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read releases: %w", err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("read releases: require at least one, found none")
	}
	parsed := make(map[string]*semver.Version, len(list))
	for i := range list {
		r := &list[i]
		v, err := semver.NewVersion(r.Version)
		if err != nil {
			return nil, fmt.Errorf("read release %q: %w", r.Version, err)
		}
		if parsed[r.Version] != nil {
			return nil, fmt.Errorf("read releases: require each version once, found %s twice", r.Version)
		}
		if len(r.CPUArchitectures) == 0 {
			return nil, fmt.Errorf("read release %s: require at least one CPU architecture, found none", r.Version)
		}
		if r.DisplayName == "" {
			r.DisplayName = r.Version
		}
		parsed[r.Version] = v
	}
	slices.SortStableFunc(list, func(a, b Release) int { return parsed[b.Version].Compare(parsed[a.Version]) })
	list.markDefault()
	return list, nil
}

func (l Releases) markDefault() {
	if slices.ContainsFunc(l, func(r Release) bool { return r.Default }) {
		return
	}
	if i := slices.IndexFunc(l, func(r Release) bool { return r.SupportLevel == "production" }); i >= 0 {
		l[i].Default = true
		return
	}
	l[0].Default = true
}

// Find resolves what a client asked for: a whole version, a minor version such as
// "4.22" (its newest release), or nothing (the default). The error is a
// model.ErrInvalid that lists what there is.
func (l Releases) Find(version string) (Release, error) {
	for _, r := range l {
		if r.Version == version || version == "" && r.Default {
			return r, nil
		}
	}
	for _, r := range l {
		if v, err := semver.NewVersion(r.Version); err == nil && fmt.Sprintf("%d.%d", v.Major(), v.Minor()) == version {
			return r, nil
		}
	}
	known := make([]string, len(l))
	for i, r := range l {
		known[i] = r.Version
	}
	return Release{}, model.Invalidf("OpenShift version %q is not on offer, require one of %v", version, known)
}

// Latest keeps the newest release of every minor version.
func (l Releases) Latest() Releases {
	seen := map[string]bool{}
	var out Releases
	for _, r := range l {
		v, err := semver.NewVersion(r.Version)
		if err != nil {
			continue
		}
		minor := fmt.Sprintf("%d.%d", v.Major(), v.Minor())
		if !seen[minor] {
			seen[minor] = true
			out = append(out, r)
		}
	}
	return out
}
