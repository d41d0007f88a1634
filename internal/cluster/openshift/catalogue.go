// Package openshift holds the facts about OpenShift versions: hardware requirements by role, the releases
// clients may choose from, and the defaults of a new cluster. Everything is data with a parser, so that a
// deployment can bring its own.
package openshift

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/model"
)

// Catalogue is the list of available releases while the service runs: from its settings and from release sources. It is safe for
// concurrent use.
type Catalogue struct {
	given   Releases
	current atomic.Pointer[Releases]
}

// NewCatalogue begins with the releases of the settings.
func NewCatalogue(given Releases) *Catalogue {
	c := &Catalogue{given: given}
	c.current.Store(&given)
	return c
}

// List returns the available releases, newest first.
func (c *Catalogue) List() Releases { return *c.current.Load() }

// Extend adds the releases of release sources to the releases of the settings, replacing the sources' earlier releases.
func (c *Catalogue) Extend(found Releases) {
	list := merge(c.given, found)
	c.current.Store(&list)
}

// Find calls Releases.Find on the current list.
func (c *Catalogue) Find(version string) (Release, error) { return c.List().Find(version) }

// Wish is the release a client requested for a cluster.
type Wish struct {
	Version      string // whole, minor, or empty
	Architecture string // empty: x86_64, or the release's own when it serves several
	Image        string // empty: the version's image
	// AnyImage allows releases that are not in the list.
	AnyImage bool
}

// Choose finds the requested release, and the architecture of the cluster: multi with a release for several. The error is a
// model.ErrInvalid.
func (c *Catalogue) Choose(w Wish) (Release, string, error) {
	list := c.List()
	if w.Image != "" {
		return list.chooseImage(w)
	}
	r, err := list.Find(w.Version)
	if err != nil {
		return r, "", err
	}
	for _, candidate := range list.like(r, w.Version) {
		if fitting, architecture, ok := candidate.serve(w.Architecture); ok {
			return fitting, architecture, nil
		}
	}
	return r, "", errArchitecture(r, w.Architecture)
}

func errArchitecture(r Release, architecture string) error {
	return model.Invalidf(
		"cpu_architecture: require one of %v for OpenShift %s, found %s",
		r.CPUArchitectures,
		r.Version,
		cmp.Or(architecture, model.X8664),
	)
}

// like lists what may stand in for a release that was found: nothing when a whole version was asked for, else releases of the same
// minor version, builds for several architectures last.
func (l Releases) like(r Release, asked string) Releases {
	out := Releases{r}
	if r.Version == asked {
		return out
	}
	minor := strings.TrimSuffix(r.minor(), "-"+model.Multi)
	for _, builds := range []string{minor, minor + "-" + model.Multi} {
		for _, other := range l {
			if other.minor() == builds && other.Version != r.Version {
				out = append(out, other)
			}
		}
	}
	return out
}

// serve returns the release with the image for a cluster of an architecture, and the architecture of that
// cluster; false when it has none.
func (r Release) serve(name string) (Release, string, bool) {
	asked := model.Architecture(name)
	one := len(r.CPUArchitectures) > 1 && r.CPUArchitecture == "" // image for all of them, not marked as such
	switch {
	case r.Multi():
		return r, model.Multi, name == "" || asked == model.Multi || slices.Contains(r.CPUArchitectures, asked)
	case asked == model.Multi:
		return r, model.Multi, one
	case !slices.Contains(r.CPUArchitectures, asked):
		return r, "", false
	}
	r.Image, r.CPUArchitecture = cmp.Or(r.images[asked], r.Image), asked
	return r, cmp.Or(name, asked), true
}

// chooseImage accepts a release image of the list, or any image where that is allowed: then its version is the requested one, and the
// installation finds out what it contains.
func (l Releases) chooseImage(w Wish) (Release, string, error) {
	for _, r := range l {
		for _, name := range r.CPUArchitectures {
			if r.images[name] != w.Image {
				continue
			}
			if w.Version != "" && w.Version != r.Version && w.Version != strings.TrimSuffix(r.minor(), "-"+model.Multi) &&
				w.Version != r.minor() {
				return r, "", model.Invalidf("ocp_release_image: require an image of OpenShift %s, found one of %s", w.Version, r.Version)
			}
			fitting, architecture, ok := r.serve(cmp.Or(w.Architecture, name))
			if !ok {
				return r, "", errArchitecture(r, w.Architecture)
			}
			return fitting, architecture, nil
		}
	}
	if !w.AnyImage {
		return Release{}, "", model.Invalidf(
			"ocp_release_image: require the image of an available release (%v), found %s",
			l.known(),
			w.Image,
		)
	}
	r, err := l.Find(w.Version)
	if err != nil {
		v, bad := semver.StrictNewVersion(w.Version)
		if bad != nil {
			return r, "", err
		}
		r = Release{Version: v.String(), CPUArchitectures: []string{model.Architecture(w.Architecture)}}
	}
	r.Image = w.Image
	return r, cmp.Or(w.Architecture, model.X8664), nil
}
