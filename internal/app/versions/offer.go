// Package versions holds what a deployment offers to install: releases, live images and the channels where more
// releases are found. Settings win over the file that `slipway versions update` writes, which wins over the shipped
// lists.
package versions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"slipway/internal/cluster/openshift"
)

// Lists are the settings: JSON lists; an empty text is not set, `[]` is an empty list.
type Lists struct{ ReleaseImages, OSImages, ReleaseSources string }

// Offer holds the versions and images that a deployment offers.
type Offer struct {
	Releases openshift.Releases
	Sources  []openshift.ReleaseSource
	OSImages openshift.OSImages
	// OnDemand is set when the images do not come from the settings: they are more than a site boots.
	OnDemand bool
}

// File returns the path where `slipway versions update` keeps what it finds.
func File(dataDir string) string { return filepath.Join(dataDir, "versions.json") }

// Read returns what a deployment offers. Errors name the setting or the file.
func Read(o Lists, dataDir string) (out Offer, err error) {
	_, releases, images, err := load(File(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		releases, images, err = openshift.DefaultReleases(), openshift.DefaultOSImages(), nil
	}
	if err != nil {
		return out, err
	}
	switch {
	case o.ReleaseSources != "":
		if out.Sources, err = openshift.ParseReleaseSources([]byte(o.ReleaseSources)); err != nil {
			return out, fmt.Errorf("read RELEASE_SOURCES: %w", err)
		}
	case o.ReleaseImages == "":
		out.Sources = openshift.DefaultReleaseSources()
	}
	switch {
	case empty(o.ReleaseImages):
	case o.ReleaseImages != "":
		if out.Releases, err = openshift.ParseReleases([]byte(o.ReleaseImages)); err != nil {
			return out, fmt.Errorf("read RELEASE_IMAGES: %w", err)
		}
	default:
		out.Releases = releases
	}
	if o.OSImages == "" {
		out.OSImages, out.OnDemand = images, true
		return out, nil
	}
	if out.OSImages, err = openshift.ParseOSImages([]byte(o.OSImages)); err != nil {
		return out, fmt.Errorf("read OS_IMAGES: %w", err)
	}
	return out, nil
}

func empty(list string) bool { return strings.ReplaceAll(strings.TrimSpace(list), " ", "") == "[]" }

func load(file string) (openshift.Versions, openshift.Releases, openshift.OSImages, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return openshift.Versions{}, nil, nil, fmt.Errorf("read versions: %w", err)
	}
	v, releases, images, err := openshift.ParseVersions(text)
	if err != nil {
		return v, nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	return v, releases, images, nil
}
