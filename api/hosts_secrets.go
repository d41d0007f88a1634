package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/http/httpguts"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// bmcSchemes are the schemes of management controllers' addresses that fencing can use: Redfish, over http and https, and the vendors'
// names of it.
var bmcSchemes = []string{
	"redfish",
	"redfish+http",
	"redfish+https",
	"idrac-redfish",
	"idrac-redfish+http",
	"idrac-redfish+https",
	"ilo5-redfish",
	"http",
	"https",
}

// applyFencing sets how a host's power is controlled by its cluster; three empty values
// take it back.
func applyFencing(h *model.Host, p *wire.FencingCredentialsParams) error {
	if p == nil {
		return nil
	}
	if p.Address == "" && p.Username == "" && p.Password == "" {
		h.Fencing = nil
		return nil
	}
	address := strings.TrimSpace(p.Address)
	u, err := url.Parse(address)
	blank := strings.ContainsFunc(address, unicode.IsSpace)
	if err != nil || u.Host == "" || blank || !slices.Contains(bmcSchemes, strings.ToLower(u.Scheme)) {
		return model.Invalidf(
			"fencing_credentials.address: require the address of a management controller such as "+
				"redfish+https://192.0.2.1/redfish/v1/Systems/1, found %q",
			redactedURL(u, address),
		)
	}
	if u.User != nil {
		return model.Invalidf("fencing_credentials.address: must not contain user info")
	}
	for _, part := range []struct{ name, value string }{{"username", p.Username}, {"password", p.Password}} {
		if part.value == "" {
			return model.Invalidf("fencing_credentials.%s is required: set both username and password", part.name)
		}
	}
	verification := string(wire.FencingCredentialsParamsCertificateVerificationEnabled)
	if p.CertificateVerification != nil {
		verification = string(*p.CertificateVerification)
	}
	h.Fencing = &model.FencingCredentials{
		Address: address, Username: p.Username, Password: model.Secret(p.Password), CertificateVerification: verification,
		MACAddress: strings.ToLower(deref(p.MacAddress)),
	}
	return nil
}

// redactedURL keeps a password out of an error.
func redactedURL(u *url.URL, text string) string {
	if u == nil {
		return "an unreadable address"
	}
	if u.User != nil {
		return u.Redacted()
	}
	return text
}

// applyIgnitionEndpoint sets what a host of an existing cluster sends with the request
// for its configuration. An empty token, or an empty list, takes it back.
func applyIgnitionEndpoint(h *model.Host, p wire.HostUpdateParams) error {
	if p.IgnitionEndpointToken != nil {
		if !httpguts.ValidHeaderFieldValue(*p.IgnitionEndpointToken) {
			return model.Invalidf("ignition_endpoint_token: contains characters not allowed in a header")
		}
		h.IgnitionEndpointToken = model.Secret(*p.IgnitionEndpointToken)
	}
	if p.IgnitionEndpointHTTPHeaders == nil {
		return nil
	}
	headers := map[string]model.Secret{}
	for i, header := range *p.IgnitionEndpointHTTPHeaders {
		name := http.CanonicalHeaderKey(header.Key)
		switch {
		case !httpguts.ValidHeaderFieldName(header.Key):
			return model.Invalidf("ignition_endpoint_http_headers[%d].key: require the name of a header, found %q", i, header.Key)
		case !httpguts.ValidHeaderFieldValue(header.Value):
			return model.Invalidf("ignition_endpoint_http_headers[%d].value: contains characters not allowed in a header", i)
		case headers[name] != "":
			return model.Invalidf("ignition_endpoint_http_headers[%d].key: require each header once, found %s again", i, name)
		}
		headers[name] = model.Secret(header.Value)
	}
	h.IgnitionEndpointHeaders = headers
	return nil
}
