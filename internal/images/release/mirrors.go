package release

import (
	"cmp"
	"slices"
	"strings"

	"slipway/internal/cluster/registries"
)

// Mirror says where the images of a registry, or a part of one, are read instead
// (containers-registries.conf(5), "Remapping and mirroring registries").
type Mirror struct {
	Prefix    string // of images it applies to; "*.example.com" is every registry below that domain
	Location  string // that replaces the prefix at the source
	Blocked   bool   // the source is never asked
	Locations []MirrorLocation
}

// MirrorLocation is one mirror. An image is asked of it only when it is named in a way that the mirror is for.
type MirrorLocation struct {
	Location      string
	Tags, Digests bool
}

// ParseMirrors returns the mirrors of a containers-registries.conf(5) of version 2. An error is a model.ErrInvalid.
func ParseMirrors(registriesConf string) ([]Mirror, error) {
	list, err := registries.Parse(registriesConf)
	if err != nil {
		return nil, err
	}
	var mirrors []Mirror
	for _, r := range list {
		m := Mirror{Prefix: cmp.Or(r.Prefix, r.Location), Location: r.Source(), Blocked: r.Blocked}
		for _, l := range r.Mirrors {
			m.Locations = append(m.Locations, MirrorLocation{Location: l.Location, Tags: l.Tags, Digests: l.Digests})
		}
		if m.Prefix != "" {
			mirrors = append(mirrors, m)
		}
	}
	return mirrors, nil
}

// matched returns how many bytes of an image's name the prefix covers; 0: it does not apply.
func (m Mirror) matched(image string) int {
	if domain, ok := strings.CutPrefix(m.Prefix, "*"); ok {
		host, _, _ := strings.Cut(image, "/")
		name, _, _ := strings.Cut(host, ":")
		if strings.HasSuffix(name, domain) && len(name) > len(domain) {
			return len(host)
		}
		return 0
	}
	rest, ok := strings.CutPrefix(image, m.Prefix)
	if !ok || rest != "" && !strings.ContainsAny(rest[:1], "/:@") {
		return 0
	}
	return len(m.Prefix)
}

// longestMatch returns the mirror whose prefix is the longest that applies to an image, and what it covers of it.
func longestMatch(mirrors []Mirror, image string) (Mirror, int) {
	var best Mirror
	covered := 0
	for _, m := range mirrors {
		if n := m.matched(image); n > 0 && len(m.Prefix) > len(best.Prefix) {
			best, covered = m, n
		}
	}
	return best, covered
}

// places lists where an image is asked for, in order: its mirrors, and at last its source.
func places(mirrors []Mirror, image string) []string {
	m, covered := longestMatch(mirrors, image)
	if covered == 0 {
		return []string{image}
	}
	rest := image[covered:]
	byDigest := strings.Contains(image, "@")
	var all []string
	for _, l := range m.Locations {
		if l.Digests && byDigest || l.Tags && !byDigest {
			all = append(all, l.Location+rest)
		}
	}
	if !m.Blocked {
		source := image
		if !strings.HasPrefix(m.Prefix, "*") {
			source = m.Location + rest
		}
		all = append(all, source)
	}
	return slices.Compact(all)
}

// Mirrored returns the names of an image at its mirrors, which clusters ask for it by its digest.
func (o Options) Mirrored(image string) []string {
	m, covered := longestMatch(o.Mirrors, image)
	var all []string
	for _, l := range m.Locations {
		all = append(all, l.Location+image[covered:])
	}
	return all
}

// digestsOnly says which mirrors were not asked for an image, as they are for digests and it is named by its tag; empty for
// none. Podman on the hosts does not ask them either.
func digestsOnly(mirrors []Mirror, image string) string {
	m, covered := longestMatch(mirrors, image)
	if covered == 0 || strings.Contains(image, "@") {
		return ""
	}
	var left []string
	for _, l := range m.Locations {
		if !l.Tags {
			left = append(left, l.Location)
		}
	}
	if len(left) == 0 {
		return ""
	}
	return "; " + strings.Join(left, ", ") + " was not asked, because the registries.conf has it for digests only " +
		"(mirror-by-digest-only or pull-from-mirror) and this image is named by a tag: " +
		"name the release by its digest in RELEASE_IMAGES, or let tags use the mirror"
}

// pullSpec returns an image by its digest: its tag can be moved, and mirrors of clusters are asked by digest only.
func pullSpec(image, digest string) string {
	name, _, _ := strings.Cut(image, "@")
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		name = name[:colon]
	}
	return name + "@" + digest
}
