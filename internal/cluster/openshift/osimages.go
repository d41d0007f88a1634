package openshift

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/model"
)

// TypeDisconnectedISO is the type of images that include everything an installation needs. The others have no
// type.
const TypeDisconnectedISO = "disconnected-iso"

// OSImage is a live image of the operating system that hosts discover with; its JSON is os-image of the API document, and the fields
// that only OS_IMAGES has.
type OSImage struct {
	OpenShiftVersion string `json:"openshift_version"` // 4.22, or a whole version
	CPUArchitecture  string `json:"cpu_architecture"`  // x86_64, arm64, ppc64le, s390x
	URL              string `json:"url"`               // of the ISO: http, https, file, or an absolute path
	Version          string `json:"version"`           // of the operating system
	SHA256           string `json:"sha256,omitempty"`  // of the ISO, 64 hexadecimal digits; empty: not known
	Type             string `json:"type,omitempty"`    // empty, or TypeDisconnectedISO
	Path             string `json:"-"`                 // of an ISO that is a file on this machine; from URL
}

// OSImages are the images of a deployment, newest first.
type OSImages []OSImage

// OSImageKey identifies an image: a deployment has one for each.
type OSImageKey struct{ Version, Architecture, Type string }

// Key returns the key by which the image is requested.
func (o *OSImage) Key() OSImageKey {
	return OSImageKey{o.OpenShiftVersion, o.CPUArchitecture, o.Type}
}

// String returns the key as users see it: 4.22 (x86_64).
func (k OSImageKey) String() string {
	if k.Type == "" {
		return fmt.Sprintf("%s (%s)", k.Version, k.Architecture)
	}
	return fmt.Sprintf("%s (%s, %s)", k.Version, k.Architecture, k.Type)
}

// ParseOSImages reads a JSON list of images. Every version may stand in it once for an
// architecture and type.
func ParseOSImages(data []byte) (OSImages, error) {
	var list OSImages
	var kind *json.UnmarshalTypeError
	switch err := json.Unmarshal(data, &list); {
	case errors.As(err, &kind):
		return nil, fmt.Errorf(
			"read operating system images: require a JSON list of objects with text, found a %s at byte %d",
			kind.Value,
			kind.Offset,
		)
	case err != nil:
		return nil, fmt.Errorf("read operating system images: require a JSON list: %w", err)
	}
	seen := map[OSImageKey]bool{}
	for i := range list {
		image := &list[i]
		if err := image.check(); err != nil {
			return nil, fmt.Errorf("read operating system image %d: %w", i+1, err)
		}
		if seen[image.Key()] {
			return nil, fmt.Errorf(
				"read operating system images: require each version once for an architecture and type, found %s for %s twice",
				strings.TrimSpace(image.OpenShiftVersion+" "+image.Type),
				image.CPUArchitecture,
			)
		}
		seen[image.Key()] = true
	}
	list.Sort()
	return list, nil
}

// Sort puts the newest version first.
func (l OSImages) Sort() {
	slices.SortStableFunc(l, func(a, b OSImage) int {
		return semver.MustParse(b.OpenShiftVersion).Compare(semver.MustParse(a.OpenShiftVersion)) // they were checked before
	})
}

// NewOSImage makes an image that is not in OS_IMAGES: its version of OpenShift, its
// architecture and its type are checked, and the architecture gets its usual name.
func NewOSImage(version, architecture, imageType string) (OSImage, error) {
	o := OSImage{OpenShiftVersion: version, CPUArchitecture: architecture, Type: imageType}
	return o, o.checkKey()
}

func (o *OSImage) check() error {
	if err := o.checkKey(); err != nil {
		return err
	}
	if err := o.checkURL(); err != nil {
		return err
	}
	if o.Version == "" {
		return fmt.Errorf("version of the image of version %s: require one, found none", o.OpenShiftVersion)
	}
	sum, err := ParseSHA256(o.SHA256)
	if err != nil {
		return fmt.Errorf("sha256 of version %s: %w", o.OpenShiftVersion, err)
	}
	o.SHA256 = sum
	return nil
}

func (o *OSImage) checkKey() error {
	if _, err := semver.NewVersion(o.OpenShiftVersion); err != nil {
		return fmt.Errorf("openshift_version: require one such as 4.22, found %q: %w", o.OpenShiftVersion, err)
	}
	name := o.CPUArchitecture
	o.CPUArchitecture = model.Architecture(name)
	if name == "" || !slices.Contains(model.Architectures(), o.CPUArchitecture) {
		return fmt.Errorf("cpu_architecture of version %s: require x86_64, arm64, ppc64le or s390x, found %q", o.OpenShiftVersion, name)
	}
	if o.Type != "" && o.Type != TypeDisconnectedISO {
		return fmt.Errorf("type of version %s: require none or %s, found %q", o.OpenShiftVersion, TypeDisconnectedISO, o.Type)
	}
	return nil
}

// checkURL also fills Path, where the image is a file of this machine.
func (o *OSImage) checkURL() error {
	u, err := url.Parse(o.URL)
	switch {
	case filepath.IsAbs(o.URL): // with any characters: a path is no URL
		o.Path = filepath.Clean(o.URL)
	case err == nil && u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") && filepath.IsAbs(u.Path):
		o.Path = filepath.Clean(u.Path)
	case err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https"):
		o.Path = ""
	default:
		return fmt.Errorf(
			"url of version %s: require an address that begins with http:// or https://, or a file as file:///PATH or /PATH, found %q",
			o.OpenShiftVersion,
			o.URL,
		)
	}
	return nil
}

// ParseSHA256 takes a digest as 64 hexadecimal digits, with "sha256:" before them or not, and gives it in lower case. An empty text
// stays empty.
func ParseSHA256(text string) (string, error) {
	sum := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(text), "sha256:"))
	if sum != "" && (len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "") {
		return "", model.Invalidf("require 64 hexadecimal digits, found %q", text)
	}
	return sum, nil
}

// Find returns the image that hosts of an OpenShift version and architecture boot: the image of the whole version, else of its minor
// version, else the newest older image. An empty version is the newest. The error is a model.ErrInvalid.
func (l OSImages) Find(version, architecture string) (OSImage, error) {
	image, found, err := l.Lookup(version, architecture, "")
	if err == nil && !found {
		err = model.Invalidf(
			"require an operating system image for OpenShift %q on %s, found none in the settings of the service",
			version,
			model.Architecture(architecture),
		)
	}
	return image, err
}

// Lookup works like Find among images of a type, and reports whether one exists. An operating system's own version is allowed too: no
// other image takes its place. Images with a version of OKD serve OKD alone, which prefers them over images without. The error is a
// model.ErrInvalid: the version is invalid.
func (l OSImages) Lookup(version, architecture, imageType string) (OSImage, bool, error) {
	architecture = model.Architecture(architecture)
	if isBuild(version) {
		i := slices.IndexFunc(l, func(image OSImage) bool {
			return image.Version == version && image.CPUArchitecture == architecture && image.Type == imageType
		})
		if i < 0 {
			return OSImage{}, false, nil
		}
		return l[i], true, nil
	}
	var own, others OSImages
	for _, image := range l {
		switch {
		case image.CPUArchitecture != architecture || image.Type != imageType:
		case image.OpenShiftVersion == version:
			return image, true, nil
		case okd(image.OpenShiftVersion):
			own = append(own, image)
		default:
			others = append(others, image)
		}
	}
	if okd(version) {
		if image, found, err := own.nearest(version); found || err != nil {
			return image, found, err
		}
	}
	return others.nearest(version)
}

// isBuild reports whether a version belongs to the operating system, which has a date: 420.96.202511010000-0 and 9.6.20250701-0.
// Minimal ISOs of openshift/assisted-service name their root file system by it (openshift/assisted-image-service,
// pkg/imagestore/imagestore.go).
func isBuild(version string) bool { return buildOfSystem.MatchString(version) }

var buildOfSystem = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]{8,}(-[0-9]+)?$`)

// okd reports whether a version belongs to OKD: 4.20.0-okd-scos.13, and 4.15.0-0.okd-2024-03-10-010116 of the time before
// (okd-project/okd, releases).
func okd(version string) bool { return strings.Contains(version, "okd") }

// nearest returns the image of the minor version, else the newest older image.
func (l OSImages) nearest(version string) (OSImage, bool, error) {
	var asked *semver.Version
	if version != "" {
		v, err := semver.NewVersion(version)
		if err != nil {
			return OSImage{}, false, model.Invalidf("openshift_version: require a version such as 4.22, found %q", version)
		}
		asked = semver.New(v.Major(), v.Minor(), v.Patch(), "", "")
	}
	var patch *OSImage // the newest of the minor version, for requests that name no more
	for i := range l { // newest first
		image := &l[i]
		v := semver.MustParse(image.OpenShiftVersion)
		sameMinor := asked != nil && v.Major() == asked.Major() && v.Minor() == asked.Minor()
		switch {
		case asked == nil, sameMinor && !isPatch(image.OpenShiftVersion):
			return *image, true, nil
		case sameMinor && !isPatch(version) && v.Prerelease() == "":
			if patch == nil {
				patch = image
			}
		case patch == nil && v.LessThan(asked):
			return *image, true, nil
		}
	}
	if patch != nil {
		return *patch, true, nil
	}
	return OSImage{}, false, nil
}

// isPatch reports whether a version has three parts.
func isPatch(version string) bool {
	_, err := semver.StrictNewVersion(version)
	return err == nil
}
