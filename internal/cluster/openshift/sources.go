package openshift

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/model"
)

// ReleaseSource names channels of the update service in which releases of a minor version
// are found; its JSON is release-source of the API document.
type ReleaseSource struct {
	OpenShiftVersion string `json:"openshift_version"` // 4.22
	// MultiCPUArchitectures are the architectures that builds for several of them serve.
	MultiCPUArchitectures []string         `json:"multi_cpu_architectures"`
	UpgradeChannels       []UpgradeChannel `json:"upgrade_channels"`
}

// UpgradeChannel is a request to the update service for one architecture.
type UpgradeChannel struct {
	CPUArchitecture string   `json:"cpu_architecture"` // x86_64, aarch64, arm64, ppc64le, s390x, multi
	Channels        []string `json:"channels"`         // candidate, fast, stable, eus
}

var (
	minorVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+$`)
	channels     = []string{"candidate", "fast", "stable", "eus"}
)

// ParseReleaseSources reads a JSON list of release sources.
func ParseReleaseSources(data []byte) ([]ReleaseSource, error) {
	var list []ReleaseSource
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read release sources: %w", err)
	}
	seen := map[string]bool{}
	for i := range list {
		source := &list[i]
		if err := source.check(); err != nil {
			return nil, fmt.Errorf("read release source %d (%s): %w", i+1, source.OpenShiftVersion, err)
		}
		if seen[source.OpenShiftVersion] {
			return nil, fmt.Errorf("read release sources: require each version once, found %s twice", source.OpenShiftVersion)
		}
		seen[source.OpenShiftVersion] = true
	}
	return list, nil
}

func (s *ReleaseSource) check() error {
	if !minorVersion.MatchString(s.OpenShiftVersion) {
		return fmt.Errorf("openshift_version: require one such as 4.22, found %q", s.OpenShiftVersion)
	}
	hosts := append(model.Architectures(), "aarch64")
	for _, name := range s.MultiCPUArchitectures {
		if !slices.Contains(hosts, name) {
			return fmt.Errorf("multi_cpu_architectures: require names of %v, found %q", hosts, name)
		}
	}
	for _, c := range s.UpgradeChannels {
		if c.CPUArchitecture != model.Multi && !slices.Contains(hosts, c.CPUArchitecture) {
			return fmt.Errorf("upgrade_channels.cpu_architecture: require %s or one of %v, found %q", model.Multi, hosts, c.CPUArchitecture)
		}
		if c.CPUArchitecture == model.Multi && len(s.MultiCPUArchitectures) == 0 {
			return fmt.Errorf("multi_cpu_architectures: require the architectures of %s builds, found none", model.Multi)
		}
		for _, name := range c.Channels {
			if !slices.Contains(channels, name) {
				return fmt.Errorf("upgrade_channels.channels: require names of %v, found %q", channels, name)
			}
		}
	}
	return nil
}

// Question is one request to the update service.
type Question struct {
	Source          ReleaseSource
	Channel         string // candidate, fast, stable, eus
	CPUArchitecture string // as in the source
}

// ChannelName returns the name the update service knows the channel by: "stable-4.22".
func (q Question) ChannelName() string { return q.Channel + "-" + q.Source.OpenShiftVersion }

// GraphArchitecture returns the update service's name for the architecture.
func (q Question) GraphArchitecture() string {
	switch q.CPUArchitecture {
	case model.X8664:
		return "amd64"
	case "aarch64":
		return model.ARM64
	}
	return q.CPUArchitecture
}

// Questions lists the requests for the releases of sources.
func Questions(sources []ReleaseSource) []Question {
	var out []Question
	for _, s := range sources {
		for _, c := range s.UpgradeChannels {
			for _, channel := range c.Channels {
				out = append(out, Question{Source: s, Channel: channel, CPUArchitecture: c.CPUArchitecture})
			}
		}
	}
	return out
}

// Answer lists the versions in a channel. Channels hold versions of other minors, too: versions that can be upgraded to the channel's
// own.
type Answer struct {
	Question
	Versions []string
}

// ReleasesIn makes releases of the update service's replies. Levels are the support levels of minor versions;
// those without one are in production. Versions that are only in a candidate channel, and all pre-releases, are
// beta.
func ReleasesIn(answers []Answer, levels map[string]string) Releases {
	var list Releases
	for _, a := range answers {
		for _, version := range a.Versions {
			v, err := semver.NewVersion(version)
			if err != nil || minorOf(v, false) != a.Source.OpenShiftVersion {
				continue
			}
			list.found(a, v, levels)
		}
	}
	list.sort()
	return list
}

// releaseImage is where the images of releases are: version and architecture.
const releaseImage = "quay.io/openshift-release-dev/ocp-release:%s-%s"

func (l *Releases) found(a Answer, v *semver.Version, levels map[string]string) {
	architecture := model.Architecture(a.CPUArchitecture)
	level := levels[minorOf(v, false)]
	switch {
	case a.Channel == "candidate" || levelOfRelease(v) == SupportBeta:
		level = SupportBeta
	case level == "":
		level = SupportProduction
	}
	item := Release{
		Version: v.Original(), CPUArchitecture: architecture, SupportLevel: level,
		CPUArchitectures: []string{architecture}, Image: fmt.Sprintf(releaseImage, v.Original(), imageArchitecture(architecture)),
	}
	if architecture == model.Multi {
		item.CPUArchitectures = nil
		for _, name := range a.Source.MultiCPUArchitectures {
			item.CPUArchitectures = append(item.CPUArchitectures, model.Architecture(name))
		}
		item.Version += "-" + model.Multi
	}
	item.DisplayName, item.OpenShiftVersion = item.Version, minorOf(v, architecture == model.Multi)
	i := slices.IndexFunc(*l, func(r Release) bool { return r.Version == item.Version })
	if i >= 0 && (*l)[i].SupportLevel == SupportBeta {
		(*l)[i].SupportLevel = level // it is in another channel as well
	}
	_ = l.add(item) // twice for an architecture: it is in several channels
}

func imageArchitecture(name string) string {
	if name == model.ARM64 {
		return "aarch64"
	}
	return name
}

// merge adds found releases to given ones, which win: a version that is given for an
// architecture stays as it is given, and so does the default.
func merge(given, found Releases) Releases {
	list := make(Releases, 0, len(given)+len(found))
	for _, r := range given {
		list = append(list, r.clone())
	}
	for _, r := range found {
		i := slices.IndexFunc(list, func(have Release) bool { return have.Version == r.Version })
		if i < 0 {
			list = append(list, r.clone())
			continue
		}
		have := &list[i]
		for _, name := range r.CPUArchitectures {
			if !slices.Contains(have.CPUArchitectures, name) {
				have.images[name] = r.images[name]
				have.CPUArchitectures = append(have.CPUArchitectures, name)
			}
		}
	}
	list.sort()
	list.markDefault()
	return list
}

func (r Release) clone() Release {
	r.CPUArchitectures = slices.Clone(r.CPUArchitectures)
	if r.images = maps.Clone(r.images); r.images == nil {
		r.images = map[string]string{}
	}
	return r
}
