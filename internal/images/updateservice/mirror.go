package updateservice

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"slipway/internal/cluster/openshift"
)

// Mirror is where live images of Red Hat's CoreOS are published: mirror.openshift.com/pub/openshift-v4, or a copy of it. Below a folder
// of the architecture, dependencies/rhcos/4.22/latest holds the newest images of a minor version with sha256sum.txt, as sha256sum(1)
// writes it, and rhcos-id.txt, the version of the system; dependencies/rhcos/4.22/4.22.8 holds the images of one build and stays.
type Mirror struct {
	Base   *url.URL
	Client *http.Client
}

// folders are the architectures by their name in lists of images.
var folders = map[string]string{"x86_64": "x86_64", "arm64": "aarch64", "ppc64le": "ppc64le", "s390x": "s390x"}

// ErrNoImage says that the mirror has no live image of a version and architecture.
var ErrNoImage = errors.New("the mirror has no live image")

// Image returns the newest live image of a minor version (4.22) and architecture. The error is an ErrNoImage where the
// mirror answers that it has none.
func (m *Mirror) Image(ctx context.Context, minor, architecture string) (openshift.OSImage, error) {
	folder, known := folders[architecture]
	if !known {
		return openshift.OSImage{}, fmt.Errorf("architecture: require x86_64, arm64, ppc64le or s390x, found %q", architecture)
	}
	of := m.Base.JoinPath(folder, "dependencies", "rhcos", minor)
	sums, err := m.get(ctx, of.JoinPath("latest", "sha256sum.txt"))
	if err != nil {
		return openshift.OSImage{}, fmt.Errorf("OpenShift %s (%s): %w", minor, architecture, err)
	}
	build, sum, found := liveImage(sums, minor, folder)
	if !found {
		return openshift.OSImage{}, fmt.Errorf("OpenShift %s (%s): %w in %s", minor, architecture, ErrNoImage, of.JoinPath("latest"))
	}
	image := openshift.OSImage{
		OpenShiftVersion: minor, CPUArchitecture: architecture, SHA256: sum, Version: build.version,
		URL: of.JoinPath(build.version, build.file).String(),
	}
	switch id, err := m.get(ctx, of.JoinPath("latest", "rhcos-id.txt")); {
	case err == nil && len(bytes.TrimSpace(id)) > 0:
		image.Version = string(bytes.TrimSpace(id))
	case err != nil && !errors.Is(err, ErrNoImage):
		return image, fmt.Errorf("OpenShift %s (%s): %w", minor, architecture, err)
	}
	return image, nil
}

// build is a live image of the mirror.
type build struct{ version, file string }

// liveImage finds the live ISO in a list of digests: rhcos-4.18.30-x86_64-live.x86_64.iso, and since 4.19
// rhcos-4.19.23-x86_64-live-iso.x86_64.iso.
func liveImage(sums []byte, minor, folder string) (found build, sum string, ok bool) {
	name := regexp.MustCompile(`^rhcos-(` + regexp.QuoteMeta(minor) + `\.[0-9]+)-` + folder + `-live(-iso)?\.` + folder + `\.iso$`)
	lines := bufio.NewScanner(bytes.NewReader(sums))
	for lines.Scan() {
		digest, file, _ := strings.Cut(lines.Text(), " ")
		file = path.Base(strings.TrimLeft(file, " *"))
		match := name.FindStringSubmatch(file)
		if match == nil {
			continue
		}
		if digest, err := openshift.ParseSHA256(digest); err == nil && digest != "" {
			return build{match[1], file}, digest, true
		}
	}
	return build{}, "", false
}

func (m *Mirror) get(ctx context.Context, address *url.URL) ([]byte, error) {
	text, status, err := Get(ctx, m.Client, address, maxAnswer)
	if status == http.StatusNotFound || status == http.StatusForbidden { // a bucket without the right to list says so
		return nil, fmt.Errorf("%w: %s does not exist", ErrNoImage, address)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", address, err)
	}
	return text, nil
}
