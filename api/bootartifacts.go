package api

import (
	"net/url"
	"strings"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/model"
)

// BootArtifacts tells where the parts of an environment's discovery image are offered,
// for hosts that go back to it (docs/reference/images.md, "Addresses"). Only Identity,
// Releases and the addresses of the options are used.
func BootArtifacts(o Options) func(*model.InfraEnv) (duesteps.BootArtifacts, error) {
	s := &server{Options: o}
	s.ImageServiceURL = strings.TrimSuffix(or(o.ImageServiceURL, o.BaseURL), "/")
	return func(e *model.InfraEnv) (duesteps.BootArtifacts, error) {
		query, err := s.imageQuery(e)
		if err != nil {
			return duesteps.BootArtifacts{}, err
		}
		artifact := url.Values{"arch": {e.CPUArchitecture}, "version": {s.imageVersion(e)}}
		for name, values := range artifact {
			query[name] = values
		}
		return duesteps.BootArtifacts{
			KernelURL: s.ImageServiceURL + "/boot-artifacts/kernel?" + artifact.Encode(),
			InitrdURL: s.ImageServiceURL + "/images/" + e.ID.String() + "/pxe-initrd?" + query.Encode(),
			RootfsURL: s.ImageServiceURL + "/boot-artifacts/rootfs?" + artifact.Encode(),
		}, nil
	}
}
