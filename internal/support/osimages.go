package support

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/model"
)

// OSImage is a live image of the operating system that hosts discover with; its JSON is
// os-image of the API document.
type OSImage struct {
	OpenShiftVersion string `json:"openshift_version"` // 4.22, or a whole version
	CPUArchitecture  string `json:"cpu_architecture"`  // x86_64, arm64, ppc64le, s390x
	URL              string `json:"url"`               // of the ISO
	Version          string `json:"version"`           // of the operating system
}

// OSImages are the images of a deployment, newest first.
type OSImages []OSImage

// ParseOSImages reads a JSON list of images. Every pair of version and architecture may
// stand in it once.
func ParseOSImages(data []byte) (OSImages, error) {
	var list OSImages
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read operating system images: %w", err)
	}
	seen := map[[2]string]bool{}
	for i := range list {
		image := &list[i]
		if err := image.check(); err != nil {
			return nil, fmt.Errorf("read operating system image %d: %w", i+1, err)
		}
		key := [2]string{image.OpenShiftVersion, image.CPUArchitecture}
		if seen[key] {
			return nil, fmt.Errorf("read operating system images: require each version once for an architecture, found %s for %s twice", key[0], key[1])
		}
		seen[key] = true
	}
	slices.SortStableFunc(list, func(a, b OSImage) int {
		return semver.MustParse(b.OpenShiftVersion).Compare(semver.MustParse(a.OpenShiftVersion)) // check has read them
	})
	return list, nil
}

func (o *OSImage) check() error {
	if _, err := semver.NewVersion(o.OpenShiftVersion); err != nil {
		return fmt.Errorf("openshift_version: require one such as 4.22, found %q: %w", o.OpenShiftVersion, err)
	}
	name := o.CPUArchitecture
	if o.CPUArchitecture = architectureOf(name); name == "" || !slices.Contains([]string{x8664, arm64, ppc64le, s390x}, o.CPUArchitecture) {
		return fmt.Errorf("cpu_architecture of version %s: require x86_64, arm64, ppc64le or s390x, found %q", o.OpenShiftVersion, name)
	}
	if u, err := url.Parse(o.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("url of version %s: require an address that begins with http:// or https://, found %q", o.OpenShiftVersion, o.URL)
	}
	if o.Version == "" {
		return fmt.Errorf("version of the image of version %s: require one, found none", o.OpenShiftVersion)
	}
	return nil
}

// Find gives the image that hosts of an OpenShift version and architecture boot: that of
// the whole version, else that of its minor version, else the newest older one. Nothing
// as version is the newest. The error is a model.ErrInvalid.
func (l OSImages) Find(version, architecture string) (OSImage, error) {
	architecture = architectureOf(architecture)
	var asked *semver.Version
	if version != "" {
		v, err := semver.NewVersion(version)
		if err != nil {
			return OSImage{}, model.Invalidf("openshift_version: require a version such as 4.22, found %q", version)
		}
		asked = semver.New(v.Major(), v.Minor(), v.Patch(), "", "")
	}
	for _, image := range l { // newest first
		if image.CPUArchitecture != architecture {
			continue
		}
		v := semver.MustParse(image.OpenShiftVersion)
		sameMinor := asked != nil && v.Major() == asked.Major() && v.Minor() == asked.Minor()
		if asked == nil || image.OpenShiftVersion == version || sameMinor && !isPatch(image.OpenShiftVersion) || v.LessThan(asked) {
			return image, nil
		}
	}
	return OSImage{}, model.Invalidf("require an operating system image for OpenShift %q on %s, found none in the settings of the service", version, architecture)
}

// isPatch reports whether a version has three parts.
func isPatch(version string) bool {
	_, err := semver.StrictNewVersion(version)
	return err == nil
}
