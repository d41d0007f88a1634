package store

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// clusterSecrets are the sealed values of a cluster row.
type clusterSecrets struct {
	PullSecret string `json:"pull_secret"`
}

// infraEnvSecrets are the encrypted values of an InfraEnv's row.
type infraEnvSecrets struct {
	PullSecret string `json:"pull_secret"`
	TokenKey   string `json:"token_key"`
}

func (s *Store) seal(secrets any, id uuid.UUID) ([]byte, error) {
	plain, err := json.Marshal(secrets)
	if err != nil {
		return nil, fmt.Errorf("encode secrets of %s: %w", id, err)
	}
	return s.sealer.Seal(plain, id[:]), nil
}

func (s *Store) open(sealed []byte, id uuid.UUID, into any) error {
	if len(sealed) == 0 {
		return nil
	}
	plain, err := s.sealer.Open(sealed, id[:])
	if err != nil {
		return fmt.Errorf("open secrets of %s (was the key replaced?): %w", id, err)
	}
	return json.Unmarshal(plain, into)
}

// hostSecrets are the sealed values of a host row.
type hostSecrets struct {
	Fencing         *fencing          `json:"fencing,omitempty"`
	IgnitionToken   string            `json:"ignition_token,omitempty"`
	IgnitionHeaders map[string]string `json:"ignition_headers,omitempty"`
}

type fencing struct {
	Address      string `json:"address"`
	Username     string `json:"username"`
	Password     string `json:"password"`
	Verification string `json:"verification,omitempty"`
	MAC          string `json:"mac,omitempty"`
}

// hostPlain are the secrets of a host, nil without any.
func hostPlain(h *model.Host) ([]byte, error) {
	if h.Fencing == nil && h.IgnitionEndpointToken == "" && len(h.IgnitionEndpointHeaders) == 0 {
		return nil, nil
	}
	secrets := hostSecrets{IgnitionToken: h.IgnitionEndpointToken.Reveal()}
	if f := h.Fencing; f != nil {
		secrets.Fencing = &fencing{f.Address, f.Username, f.Password.Reveal(), f.CertificateVerification, f.MACAddress}
	}
	if len(h.IgnitionEndpointHeaders) > 0 {
		secrets.IgnitionHeaders = make(map[string]string, len(h.IgnitionEndpointHeaders))
	}
	for name, value := range h.IgnitionEndpointHeaders {
		secrets.IgnitionHeaders[name] = value.Reveal()
	}
	plain, err := json.Marshal(secrets)
	if err != nil {
		return nil, fmt.Errorf("encode secrets of host %s: %w", h.ID, err)
	}
	return plain, nil
}

func (s *Store) sealHost(h *model.Host, plain []byte) []byte {
	if plain == nil {
		return nil
	}
	return s.sealer.Seal(plain, h.ID[:])
}

func (s *Store) openHost(h *model.Host, sealed []byte) error {
	if len(sealed) == 0 {
		return nil
	}
	var secrets hostSecrets
	if err := s.open(sealed, h.ID, &secrets); err != nil {
		return err
	}
	h.IgnitionEndpointToken = model.Secret(secrets.IgnitionToken)
	if f := secrets.Fencing; f != nil {
		h.Fencing = &model.FencingCredentials{
			Address: f.Address, Username: f.Username, Password: model.Secret(f.Password), CertificateVerification: f.Verification,
			MACAddress: f.MAC,
		}
	}
	for name, value := range secrets.IgnitionHeaders {
		if h.IgnitionEndpointHeaders == nil {
			h.IgnitionEndpointHeaders = make(map[string]model.Secret, len(secrets.IgnitionHeaders))
		}
		h.IgnitionEndpointHeaders[name] = model.Secret(value)
	}
	return nil
}
