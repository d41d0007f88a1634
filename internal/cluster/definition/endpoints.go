package definition

import (
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"slipway/internal/model"
)

// tangServer is one entry of disk_encryption.tang_servers.
type tangServer struct {
	URL        string `json:"url"`
	Thumbprint string `json:"thumbprint"`
}

// thumbprint is the digest of a signing key (RFC 7638) in base64url without padding.
var thumbprint = regexp.MustCompile(`^[A-Za-z0-9_-]{16,128}$`)

// checkTangServers accepts a JSON list of servers with the thumbprints of their keys.
func checkTangServers(text string) error {
	const field = "disk_encryption.tang_servers"
	var servers []tangServer
	if err := json.Unmarshal([]byte(text), &servers); err != nil {
		return model.Invalidf(
			`%s: must be a JSON list such as [{"url":"http://tang.example.com","thumbprint":"..."}]`,
			field,
		)
	}
	if len(servers) == 0 {
		return model.Invalidf("%s: at least one server is required", field)
	}
	for i, server := range servers {
		if err := checkWebAddress(field, server.URL); err != nil {
			return err
		}
		if !thumbprint.MatchString(server.Thumbprint) {
			return model.Invalidf("%s: require the thumbprint of a key of server %d, found %q", field, i+1, model.Abridged(server.Thumbprint))
		}
	}
	return nil
}

// checkIgnitionEndpoint accepts an address and base64 of certificates in PEM; each may be absent.
func checkIgnitionEndpoint(e model.IgnitionEndpoint) error {
	if e.URL != "" {
		if err := checkWebAddress("ignition_endpoint.url", e.URL); err != nil {
			return err
		}
	}
	if e.CACertificate == "" {
		return nil
	}
	const field = "ignition_endpoint.ca_certificate"
	text, err := base64.StdEncoding.DecodeString(e.CACertificate)
	if err != nil {
		return model.Invalidf("%s: must be base64 of certificates in PEM", field)
	}
	if strings.TrimSpace(string(text)) == "" {
		return model.Invalidf("%s: must be base64 of at least one certificate in PEM", field)
	}
	return checkCertificates(field, string(text))
}

// checkWebAddress accepts an absolute http or https address of a host.
func checkWebAddress(field, address string) error {
	u, err := url.Parse(address)
	blank := strings.ContainsFunc(address, unicode.IsSpace)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https"}, u.Scheme) || blank {
		return model.Invalidf("%s: require an address that begins with http:// or https://, found %q", field, model.Abridged(address))
	}
	return checkHostOrAddress(field, u.Hostname())
}

// parseHostOrAddress reads a DNS name or an address, and returns it without blanks and in lower case.
func parseHostOrAddress(field, text string) (string, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	return text, checkHostOrAddress(field, text)
}

// checkHostOrAddress accepts a DNS name or an address.
func checkHostOrAddress(field, text string) error {
	if _, err := netip.ParseAddr(text); err == nil {
		return nil
	}
	if checkDomain(field, strings.ToLower(text)) != nil {
		return model.Invalidf("%s: require a DNS name or an address, found %q", field, model.Abridged(text))
	}
	return nil
}
