// Package registries reads registries.conf, which says where the images of registries are pulled from.
package registries

import (
	"cmp"
	"strings"

	"github.com/BurntSushi/toml"

	"slipway/internal/model"
)

// Registry is an entry of a containers-registries.conf(5) of version 2. Locations have no slash at their end.
type Registry struct {
	// Prefix of images that the entry is for; "*.example.com" is every registry below that domain.
	Prefix string
	// Location that replaces the prefix at the source.
	Location string
	Blocked  bool // the source is never asked
	Insecure bool
	Mirrors  []Mirror
}

// Source returns what mirrors of OpenShift are for: the location, or the prefix where there is none.
func (r Registry) Source() string { return cmp.Or(r.Location, r.Prefix) }

// Mirror is a location that is asked before the source, for images that are named by a tag, by a digest, or by both.
type Mirror struct {
	Location      string
	Insecure      bool
	Tags, Digests bool
	// Unsaid is set where neither the mirror nor its registry says for which names it is.
	Unsaid bool
}

// Parse reads a file in TOML. An error is a model.ErrInvalid.
func Parse(text string) ([]Registry, error) {
	var conf struct {
		Registry []struct {
			Prefix     string `toml:"prefix"`
			Location   string `toml:"location"`
			Blocked    bool   `toml:"blocked"`
			Insecure   bool   `toml:"insecure"`
			DigestOnly bool   `toml:"mirror-by-digest-only"`
			Mirror     []struct {
				Location string `toml:"location"`
				Insecure bool   `toml:"insecure"`
				PullFrom string `toml:"pull-from-mirror"`
			} `toml:"mirror"`
		} `toml:"registry"`
	}
	if _, err := toml.Decode(text, &conf); err != nil {
		return nil, model.Invalidf("require a registries.conf in TOML: %s", err)
	}
	list := make([]Registry, 0, len(conf.Registry))
	for _, r := range conf.Registry {
		out := Registry{Prefix: trim(r.Prefix), Location: trim(r.Location), Blocked: r.Blocked, Insecure: r.Insecure}
		for _, m := range r.Mirror {
			out.Mirrors = append(out.Mirrors, Mirror{
				Location: trim(m.Location), Insecure: m.Insecure,
				Tags: !r.DigestOnly && m.PullFrom != "digest-only", Digests: m.PullFrom != "tag-only",
				Unsaid: !r.DigestOnly && m.PullFrom == "",
			})
		}
		list = append(list, out)
	}
	return list, nil
}

// trim removes slashes at the end, as the container tools do.
func trim(location string) string { return strings.TrimRight(location, "/") }
