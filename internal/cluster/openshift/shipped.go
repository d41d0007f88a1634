package openshift

import (
	"embed"
	"encoding/json"
	"fmt"
	"time"

	"slipway/internal/model"
)

// shippedLists are the lists of a deployment that sets none; their README says where they come from.
//
//go:embed shipped/*.json
var shippedLists embed.FS

// Names of the shipped lists.
const (
	shippedReleases = "release-images.json"
	shippedOSImages = "os-images.json"
	shippedSources  = "release-sources.json"
)

func readShipped(name string) []byte {
	data, err := shippedLists.ReadFile("shipped/" + name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return data
}

// DefaultReleases returns the shipped releases.
func DefaultReleases() Releases {
	list, err := ParseReleases(readShipped(shippedReleases))
	if err != nil {
		panic(err) // tests read it
	}
	return list
}

// DefaultOSImages returns the shipped live images: one for each minor version and architecture.
func DefaultOSImages() OSImages {
	list, err := ParseOSImages(readShipped(shippedOSImages))
	if err != nil {
		panic(err) // tests read it
	}
	return list
}

// DefaultReleaseSources returns the shipped channels of the update service.
func DefaultReleaseSources() []ReleaseSource {
	list, err := ParseReleaseSources(readShipped(shippedSources))
	if err != nil {
		panic(err) // tests read it
	}
	return list
}

// Versions are the releases and live images that `slipway versions update` found: a file that replaces the shipped
// lists, and that may be carried to a service without access to the internet.
type Versions struct {
	UpdatedAt     time.Time       `json:"updated_at"`
	ReleaseImages json.RawMessage `json:"release_images"` // as RELEASE_IMAGES
	OSImages      json.RawMessage `json:"os_images"`      // as OS_IMAGES
}

// ParseVersions reads and checks a file of versions.
func ParseVersions(data []byte) (Versions, Releases, OSImages, error) {
	var v Versions
	if err := json.Unmarshal(data, &v); err != nil {
		return v, nil, nil, fmt.Errorf("read versions: require an object with release_images and os_images: %w", err)
	}
	releases, err := ParseReleases(v.ReleaseImages)
	if err != nil {
		return v, nil, nil, fmt.Errorf("release_images: %w", err)
	}
	images, err := ParseOSImages(v.OSImages)
	if err != nil {
		return v, nil, nil, fmt.Errorf("os_images: %w", err)
	}
	return v, releases, images, nil
}

// Items lists the releases as RELEASE_IMAGES has them: an item for each version and image.
func (l Releases) Items() []Release {
	var items []Release
	for _, r := range l {
		byImage := map[string]int{}
		for _, name := range r.CPUArchitectures {
			image := r.images[name]
			if image == "" {
				image = r.Image
			}
			if i, found := byImage[image]; found {
				items[i].CPUArchitectures = append(items[i].CPUArchitectures, name)
				items[i].CPUArchitecture = model.Multi
				continue
			}
			item := Release{
				OpenShiftVersion: r.OpenShiftVersion, Version: r.Version, DisplayName: r.DisplayName, SupportLevel: r.SupportLevel,
				CPUArchitecture: name, CPUArchitectures: []string{name}, Image: image,
				Default: r.Default && len(byImage) == 0,
			}
			if r.Multi() {
				item.CPUArchitecture = model.Multi
			}
			byImage[image] = len(items)
			items = append(items, item)
		}
	}
	return items
}
