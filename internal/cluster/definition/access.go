package definition

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/crypto/ssh"

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

// parseSSHKeys reads lines of authorized_keys(5) without options. It returns them without blanks and with the line breaks of
// Unix.
func parseSSHKeys(field, text string) (string, error) {
	keys := model.KeyLines(text)
	for line := range strings.SplitSeq(keys, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !isPublicKey(line) {
			return "", model.Invalidf(
				"%s: require public keys such as \"ssh-ed25519 AAAA... name\", one a line, found %q",
				field,
				Abridged(line),
			)
		}
	}
	return keys, nil
}

// isPublicKey reports whether a line holds a key without options that openshift-install and sshd can parse.
func isPublicKey(line string) bool {
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
	return err == nil && len(options) == 0 && strings.Fields(line)[0] == key.Type()
}

// Abridged shortens text for an error.
func Abridged(text string) string {
	if len(text) <= 60 {
		return text
	}
	return text[:60] + "..."
}

// parseProxy checks the addresses of proxies and the exceptions, and returns them without blanks and line breaks.
func parseProxy(p model.Proxy) (model.Proxy, error) {
	p.HTTP, p.HTTPS = strings.TrimSpace(p.HTTP), strings.TrimSpace(p.HTTPS)
	for _, a := range []struct {
		field, address string
		schemes        []string
	}{
		{"http_proxy", p.HTTP, []string{"http"}}, // nodes support no other
		{"https_proxy", p.HTTPS, []string{"http", "https"}},
	} {
		if a.address == "" {
			continue
		}
		u, err := url.Parse(a.address)
		if err != nil || u.Host == "" || !slices.Contains(a.schemes, u.Scheme) || strings.ContainsFunc(a.address, unicode.IsSpace) {
			return p, model.Invalidf(
				"%s: must be an address that begins with %s://",
				a.field,
				strings.Join(a.schemes, ":// or "),
			)
		}
	}
	var err error
	p.NoProxy, err = parseNoProxy(p.NoProxy)
	return p, err
}

// parseNoProxy reads exceptions separated by commas and returns them without blanks and line breaks.
func parseNoProxy(text string) (string, error) {
	if text = strings.TrimSpace(text); text == "" || text == model.Everywhere {
		return text, nil
	}
	items := strings.Split(text, ",")
	for i, item := range items {
		item = strings.TrimSpace(item)
		items[i] = item
		if _, err := netip.ParseAddr(item); err == nil {
			continue
		}
		if _, err := netip.ParsePrefix(item); err == nil {
			continue
		}
		if checkDomain("no_proxy", strings.ToLower(strings.TrimPrefix(item, "."))) != nil {
			return "", model.Invalidf("no_proxy: require domains, addresses and networks separated by commas, or *, found %q", item)
		}
	}
	return strings.Join(items, ","), nil
}

// checkCertificates accepts certificates in PEM, one after the other.
func checkCertificates(field, text string) error {
	rest, found := bytes.TrimSpace([]byte(text)), 0
	for len(rest) > 0 {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil || block.Type != "CERTIFICATE" {
			return model.Invalidf("%s: must be certificates in PEM, block %d is not", field, found+1)
		}
		rest, found = bytes.TrimSpace(rest), found+1
	}
	if len(rest) > 0 || found == 0 && text != "" {
		return model.Invalidf("%s: must be certificates in PEM, the text after certificate %d is not", field, found)
	}
	return nil
}
