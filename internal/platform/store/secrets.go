package store

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// The kinds of encrypted values, which are the tables that hold them.
const (
	sealedClusters   = "clusters"
	sealedInfraEnvs  = "infra_envs"
	sealedHosts      = "hosts"
	sealedActivities = "pending_activities"
)

// clusterSecrets are the sealed values of a cluster row.
type clusterSecrets struct {
	PullSecret string `json:"pull_secret"`
	Override   string `json:"install_config_override,omitempty"` // passwords of BMCs and clouds
	UISettings string `json:"ui_settings,omitempty"`             // whatever a user interface keeps
	proxySecrets
}

// proxySecrets are the addresses of proxies, which may hold passwords.
type proxySecrets struct {
	HTTP  string `json:"http_proxy,omitempty"`
	HTTPS string `json:"https_proxy,omitempty"`
}

// sealedText stands in a document for a text that is among the secrets.
const sealedText = "sealed"

// take moves the texts of a proxy out of a document.
func (p *proxySecrets) take(from *model.Proxy) {
	p.HTTP, from.HTTP = from.HTTP, ""
	p.HTTPS, from.HTTPS = from.HTTPS, ""
}

// give puts them back. Rows of versions before 0.2 have them in the document.
func (p proxySecrets) give(to *model.Proxy) {
	to.HTTP, to.HTTPS = cmp.Or(p.HTTP, to.HTTP), cmp.Or(p.HTTPS, to.HTTPS)
}

// takeText moves a text out of a document, and leaves a word there.
func takeText(from *string) string {
	text := *from
	if text != "" {
		*from = sealedText
	}
	return text
}

// clusterDoc makes the document of a cluster, and its secrets.
func clusterDoc(c *model.Cluster) (doc []byte, secrets clusterSecrets, err error) {
	open := *c
	secrets = clusterSecrets{PullSecret: c.PullSecret.Reveal(), Override: takeText(&open.InstallConfigOverride)}
	secrets.UISettings = takeText(&open.UISettings)
	secrets.take(&open.Proxy)
	if doc, err = json.Marshal(&open); err != nil {
		return nil, secrets, fmt.Errorf("encode cluster %s: %w", c.ID, err)
	}
	return doc, secrets, nil
}

// infraEnvDoc makes the document of an InfraEnv, and its secrets.
func infraEnvDoc(e *model.InfraEnv) (doc []byte, secrets infraEnvSecrets, err error) {
	open := *e
	secrets = infraEnvSecrets{
		PullSecret: e.PullSecret.Reveal(), TokenKey: e.TokenKey.Reveal(), Override: takeText(&open.IgnitionConfigOverride),
	}
	secrets.take(&open.Proxy)
	secrets.KernelArguments, open.KernelArguments = open.KernelArguments, sealedArguments(open.KernelArguments)
	if doc, err = json.Marshal(&open); err != nil {
		return nil, secrets, fmt.Errorf("encode infra-env %s: %w", e.ID, err)
	}
	return doc, secrets, nil
}

// infraEnvSecrets are the encrypted values of an InfraEnv's row.
type infraEnvSecrets struct {
	PullSecret string `json:"pull_secret"`
	TokenKey   string `json:"token_key"`
	Override   string `json:"ignition_config_override,omitempty"`
	proxySecrets
	KernelArguments []model.KernelArgument `json:"kernel_arguments,omitempty"`
}

// sealedArguments stand in a document for arguments that are among the secrets: queries count InfraEnvs that have some.
func sealedArguments(arguments []model.KernelArgument) []model.KernelArgument {
	if len(arguments) == 0 {
		return nil
	}
	return []model.KernelArgument{{Value: sealedText}}
}

func (s *Store) seal(kind string, secrets any, id uuid.UUID) ([]byte, error) {
	plain, err := json.Marshal(secrets)
	if err != nil {
		return nil, fmt.Errorf("encode secrets of %s: %w", id, err)
	}
	return s.sealer.Seal(kind, plain, id[:]), nil
}

func (s *Store) open(kind string, sealed []byte, id uuid.UUID, into any) error {
	if len(sealed) == 0 {
		return nil
	}
	plain, err := s.sealer.Open(kind, sealed, id[:])
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
	Overrides       string            `json:"ignition_config_overrides,omitempty"`
	InstallerArgs   []string          `json:"installer_args,omitempty"`
}

type fencing struct {
	Address      string `json:"address"`
	Username     string `json:"username"`
	Password     string `json:"password"`
	Verification string `json:"verification,omitempty"`
	MAC          string `json:"mac,omitempty"`
}

// hostDoc makes the document of a host, and its secrets; nil without any.
func hostDoc(h *model.Host) (doc, plain []byte, err error) {
	open := *h
	takeText(&open.IgnitionConfigOverrides)
	open.InstallerArgs = nil
	if doc, err = json.Marshal(&open); err != nil {
		return nil, nil, fmt.Errorf("encode host %s: %w", h.ID, err)
	}
	plain, err = hostPlain(h)
	return doc, plain, err
}

// hostPlain encodes the secrets of a host, nil without any.
func hostPlain(h *model.Host) ([]byte, error) {
	if h.Fencing == nil && h.IgnitionEndpointToken == "" && len(h.IgnitionEndpointHeaders) == 0 && h.IgnitionConfigOverrides == "" &&
		len(h.InstallerArgs) == 0 {
		return nil, nil
	}
	secrets := hostSecrets{
		IgnitionToken: h.IgnitionEndpointToken.Reveal(), Overrides: h.IgnitionConfigOverrides, InstallerArgs: h.InstallerArgs,
	}
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
	return s.sealer.Seal(sealedHosts, plain, h.ID[:])
}

func (s *Store) openHost(h *model.Host, sealed []byte) error {
	if len(sealed) == 0 {
		return nil
	}
	var secrets hostSecrets
	if err := s.open(sealedHosts, sealed, h.ID, &secrets); err != nil {
		return err
	}
	h.IgnitionEndpointToken = model.Secret(secrets.IgnitionToken)
	h.IgnitionConfigOverrides = cmp.Or(secrets.Overrides, h.IgnitionConfigOverrides)
	if secrets.InstallerArgs != nil {
		h.InstallerArgs = secrets.InstallerArgs
	}
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
