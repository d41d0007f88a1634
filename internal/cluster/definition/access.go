package definition

import (
	"slices"
	"strings"

	"slipway/internal/cluster/access"
	"slipway/internal/cluster/pullsecret"
	"slipway/internal/model"
)

// CheckPullSecret checks a pull secret (docs/reference/auth.md, "Form of a pull secret"). One of the places that an image is read from
// must have an entry; without places no entry is required. Errors contain no part of the secret.
func CheckPullSecret(text string, places ...string) error {
	secret, err := pullsecret.Check(text)
	if err != nil {
		return model.Invalidf("pull_secret: %s", err)
	}
	if len(places) == 0 {
		return nil
	}
	for _, place := range places {
		if _, ok := secret.Find(place); ok {
			return nil
		}
	}
	if len(places) == 1 {
		return model.Invalidf("pull_secret: no entry for registry %q", registryOf(places[0]))
	}
	return model.Invalidf("pull_secret: no entry for registry %q or a mirror of it", registryOf(places[len(places)-1]))
}

// privatePlaces returns the names of an image at its mirrors and, as the last one, its own. It returns an empty list if one of them is
// in a public registry.
func (o Offer) privatePlaces(image string) []string {
	if !strings.Contains(image, "/") || len(o.PublicRegistries) == 0 {
		return nil
	}
	var places []string
	if o.Mirrors != nil {
		places = o.Mirrors(image)
	}
	places = append(places, image)
	if slices.ContainsFunc(places, func(p string) bool { return slices.Contains(o.PublicRegistries, registryOf(p)) }) {
		return nil
	}
	return places
}

func registryOf(image string) string {
	registry, _, _ := strings.Cut(image, "/")
	return registry
}

// parseSSHKeys reads the keys of a field (access.PublicKeys).
func parseSSHKeys(field, text string) (string, error) {
	keys, err := access.PublicKeys(text)
	if err != nil {
		return "", model.Invalidf("%s: %s", field, err)
	}
	return keys, nil
}

// parseProxy checks the addresses of proxies and the exceptions, and returns them without blanks and line breaks.
func parseProxy(p model.Proxy) (model.Proxy, error) {
	p.HTTP, p.HTTPS = strings.TrimSpace(p.HTTP), strings.TrimSpace(p.HTTPS)
	for _, a := range []struct {
		field, address string
		schemes        []string
	}{{"http_proxy", p.HTTP, access.HTTPProxy}, {"https_proxy", p.HTTPS, access.HTTPSProxy}} {
		if a.address == "" {
			continue
		}
		if err := access.CheckProxy(a.address, a.schemes); err != nil {
			return p, model.Invalidf("%s: %s", a.field, err)
		}
	}
	var err error
	if p.NoProxy, err = access.Exceptions(p.NoProxy); err != nil {
		return p, model.Invalidf("no_proxy: %s", err)
	}
	return p, nil
}

// checkCertificates checks the certificates of a field.
func checkCertificates(field, text string) error {
	if err := access.CheckCertificates(text); err != nil {
		return model.Invalidf("%s: %s", field, err)
	}
	return nil
}
