package installconfig

import (
	"slipway/internal/cluster/registries"
	"slipway/internal/model"
)

// ParseMirrors returns the mirrors of registries in a containers-registries.conf(5) of version 2. Registries
// without mirrors are left out. An error is a model.ErrInvalid.
func ParseMirrors(registriesConf string) ([]ImageSource, error) {
	list, err := registries.Parse(registriesConf)
	if err != nil {
		return nil, err
	}
	var sources []ImageSource
	for i, r := range list {
		source := ImageSource{Source: r.Source()}
		for _, m := range r.Mirrors {
			if m.Location == "" || source.Source == "" {
				return nil, model.Invalidf("registries.conf: registry %d and its mirrors must have a location", i+1)
			}
			source.Mirrors = append(source.Mirrors, m.Location)
		}
		if len(source.Mirrors) > 0 {
			sources = append(sources, source)
		}
	}
	return sources, nil
}
