package api

import (
	"time"

	"slipway/internal/cluster/answers"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// addressSettings returns what addresses of images depend on besides their InfraEnv.
func (s *server) addressSettings() []string {
	return []string{s.BaseURL, s.ImageServiceURL, s.images.Version(&model.InfraEnv{})}
}

// infraEnvToWire maps an InfraEnv to its format in the API; without secrets see redactInfraEnv.
func (s *server) infraEnvToWire(e *model.InfraEnv, secrets bool) (wire.InfraEnv, error) {
	address, expires, err := s.images.ISO(e)
	out := wire.InfraEnv{
		Kind: wire.InfraEnvKindInfraEnv, ID: e.ID, Href: wire.BasePath + "/v2/infra-envs/" + e.ID.String(), Name: e.Name,
		ClusterID: deref(e.ClusterID), UserName: e.UserName, OrgID: e.OrgID, EmailDomain: answers.EmailDomain(e.UserName),
		OpenshiftVersion: e.OpenShiftVersion, CPUArchitecture: wire.InfraEnvCPUArchitecture(e.CPUArchitecture),
		Type: wire.ImageType(e.ImageType), PullSecretSet: e.PullSecret.Reveal() != "",
		Proxy:               wire.Proxy{HTTPProxy: e.Proxy.HTTP, HTTPSProxy: e.Proxy.HTTPS, NoProxy: e.Proxy.NoProxy},
		SSHAuthorizedKey:    e.SSHAuthorizedKey,
		StaticNetworkConfig: e.StaticNetworkConfig, RendezvousIP: e.RendezvousIP,
		IgnitionConfigOverride: e.IgnitionConfigOverride, AdditionalTrustBundle: e.AdditionalTrustBundle,
		NetworkDiscoveryDelaySeconds: int64(e.DiscoveryDelay / time.Second),
		DownloadURL:                  address, ExpiresAt: wire.DateTime(expires),
		CreatedAt: wire.DateTime(e.CreatedAt), UpdatedAt: wire.DateTime(e.UpdatedAt),
	}
	if sources := joined(e.NTPSources); e.NTPSourcesOnly {
		out.NtpSources = sources
	} else {
		out.AdditionalNtpSources = sources
	}
	if len(e.KernelArguments) > 0 {
		out.KernelArguments = wire.Text(e.KernelArguments)
	}
	if !secrets {
		redactInfraEnv(&out)
	}
	return out, err
}
