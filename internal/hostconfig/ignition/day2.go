package ignition

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
)

// dayTwoVersion is the specification of a day-2 host's config
// (docs/reference/ignition.md, "Day-2 config"): every image that joins a cluster
// understands it.
const dayTwoVersion = "3.2.0"

// authorization is the header with the token of a host for an ignition endpoint.
const authorization = "Authorization"

type (
	pointer struct {
		Ignition pointerIgnition `json:"ignition"`
	}
	pointerIgnition struct {
		Version  string          `json:"version"`
		Config   pointerConfig   `json:"config"`
		Security pointerSecurity `json:"security,omitzero"`
	}
	pointerConfig struct {
		Merge []pointerSource `json:"merge"`
	}
	pointerSource struct {
		Source  string          `json:"source"`
		Headers []pointerHeader `json:"httpHeaders,omitempty"`
	}
	pointerHeader struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	pointerSecurity struct {
		TLS pointerTLS `json:"tls"`
	}
	pointerTLS struct {
		Authorities []pointerSource `json:"certificateAuthorities"`
	}
)

// DayTwo builds the config of a host that joins an existing cluster: a pointer to the configuration the cluster
// serves, with the headers and the certificate authority of its endpoint, the host's name, the labels that its kubelet registers
// with, and the user's overrides on top. The config holds the token of the endpoint: treat it as a secret. An invalid certificate
// authority or override is a model.ErrInvalid.
func DayTwo(c *model.Cluster, h *model.Host) ([]byte, error) {
	known := len(document.Authorities(c, h)) > 0
	source := pointerSource{Source: c.NodeConfigURL(h, known), Headers: endpointHeaders(h)}
	config := pointer{Ignition: pointerIgnition{Version: dayTwoVersion, Config: pointerConfig{Merge: []pointerSource{source}}}}
	if ca := c.IgnitionEndpoint.Authority(); ca != "" {
		if _, err := base64.StdEncoding.DecodeString(ca); err != nil {
			return nil, model.Invalidf("ignition_endpoint.ca_certificate: require base64, found %s", err)
		}
		config.Ignition.Security.TLS.Authorities = []pointerSource{{Source: "data:text/plain;charset=utf-8;base64," + ca}}
	}
	base, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("write pointer of host %s: %w", h.ID, err)
	}
	if err := document.Check(base); err != nil {
		return nil, prefixed("ignition_endpoint", err)
	}
	own := map[string]string{"Hostname": h.Hostname(), "NodeLabels": strings.Join(h.KubeletLabels(), ",")}
	files := []string{"hostname"}
	if own["NodeLabels"] != "" {
		files = append(files, "node-labels")
	}
	ofHost, err := render(own, files...)
	if err != nil {
		return nil, fmt.Errorf("build config of host %s: %w", h.ID, err)
	}
	merged, err := document.Merge(base, ofHost)
	if err != nil {
		return nil, fmt.Errorf("merge config of host %s: %w", h.ID, err)
	}
	return apply(merged, override{"ignition_config_overrides", h.IgnitionConfigOverrides})
}

// endpointHeaders lists the headers that the user set for the endpoint, and its token.
func endpointHeaders(h *model.Host) []pointerHeader {
	var headers []pointerHeader
	for _, name := range slices.Sorted(maps.Keys(h.IgnitionEndpointHeaders)) {
		headers = append(headers, pointerHeader{name, h.IgnitionEndpointHeaders[name].Reveal()})
	}
	if h.IgnitionEndpointToken != "" {
		headers = append(headers, pointerHeader{authorization, "Bearer " + h.IgnitionEndpointToken.Reveal()})
	}
	return headers
}
