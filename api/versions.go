package api

import (
	"net/http"
	"strings"

	"slipway/internal/wire"
)

// V2ListSupportedOpenshiftVersions lists what can be installed, by version.
func (s *server) V2ListSupportedOpenshiftVersions(w http.ResponseWriter, r *http.Request, params wire.V2ListSupportedOpenshiftVersionsParams) {
	releases := s.Releases
	if params.OnlyLatest {
		releases = releases.Latest()
	}
	out := wire.OpenshiftVersions{}
	for _, release := range releases {
		if release.Version != params.Version && !strings.HasPrefix(release.Version, params.Version) {
			continue
		}
		out[release.Version] = wire.OpenshiftVersion{
			DisplayName: release.DisplayName, SupportLevel: wire.OpenshiftVersionSupportLevel(release.SupportLevel),
			Default: release.Default, CPUArchitectures: release.CPUArchitectures,
		}
	}
	ok(w, r, out, nil)
}

// V2ListComponentVersions lists the versions of the service and its parts.
func (s *server) V2ListComponentVersions(w http.ResponseWriter, r *http.Request) {
	ok(w, r, wire.ListVersions{Versions: orEmptyMap(s.ComponentVersions), ReleaseTag: s.Version}, nil)
}
