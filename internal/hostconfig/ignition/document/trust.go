package document

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"

	"slipway/internal/model"
)

// Authorities returns the certificates of authorities that a host trusts for the configuration of its cluster, in PEM, each once: from
// the cluster's ignition endpoint, and from the host's own override. It is empty when none is known.
func Authorities(c *model.Cluster, h *model.Host) []byte {
	var out bytes.Buffer
	seen := map[string]bool{}
	add := func(text []byte) {
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			if block.Type != "CERTIFICATE" || seen[string(block.Bytes)] {
				continue
			}
			seen[string(block.Bytes)] = true
			out.Write(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
		}
	}
	if text, err := base64.StdEncoding.DecodeString(c.IgnitionEndpoint.Authority()); err == nil {
		add(text)
	}
	for _, text := range ownAuthorities(h.IgnitionConfigOverrides) {
		add(text)
	}
	return out.Bytes()
}

// ownAuthorities lists the authorities inside a config. Contents at an address are left out: only the host reads them.
func ownAuthorities(config string) [][]byte {
	var c struct {
		Ignition struct {
			Security struct {
				TLS struct {
					Authorities []resource `json:"certificateAuthorities"`
				} `json:"tls"`
			} `json:"security"`
		} `json:"ignition"`
	}
	if json.Unmarshal([]byte(config), &c) != nil {
		return nil
	}
	var found [][]byte
	for _, r := range c.Ignition.Security.TLS.Authorities {
		if text, err := r.content(); err == nil {
			found = append(found, text)
		}
	}
	return found
}
