package installconfig

import (
	"strings"

	"github.com/BurntSushi/toml"

	"slipway/internal/model"
)

// ParseMirrors returns the mirrors of registries in a containers-registries.conf(5) of version 2. Registries
// without mirrors are left out. An error is a model.ErrInvalid.
func ParseMirrors(registriesConf string) ([]ImageSource, error) {
	var conf struct {
		Registry []struct {
			Prefix   string `toml:"prefix"`
			Location string `toml:"location"`
			Mirror   []struct {
				Location string `toml:"location"`
			} `toml:"mirror"`
		} `toml:"registry"`
	}
	if _, err := toml.Decode(registriesConf, &conf); err != nil {
		return nil, model.Invalidf("require a registries.conf in TOML: %s", err)
	}
	var sources []ImageSource
	for i, r := range conf.Registry {
		r.Prefix, r.Location = strings.TrimRight(r.Prefix, "/"), strings.TrimRight(r.Location, "/") // as the container tools do
		source := ImageSource{Source: r.Location}
		if source.Source == "" {
			source.Source = r.Prefix
		}
		for _, m := range r.Mirror {
			if m.Location == "" || source.Source == "" {
				return nil, model.Invalidf("registries.conf: registry %d and its mirrors must have a location", i+1)
			}
			source.Mirrors = append(source.Mirrors, strings.TrimRight(m.Location, "/"))
		}
		if len(source.Mirrors) > 0 {
			sources = append(sources, source)
		}
	}
	return sources, nil
}
