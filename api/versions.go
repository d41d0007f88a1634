package api

import (
	"net/http"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// V2ListSupportedOpenshiftVersions lists what can be installed, by version.
func (s *server) V2ListSupportedOpenshiftVersions(
	w http.ResponseWriter,
	r *http.Request,
	params wire.V2ListSupportedOpenshiftVersionsParams,
) error {
	releases := s.Releases.List()
	if len(releases) == 0 {
		return model.ErrUnavailable // release sources were not read yet
	}
	if params.OnlyLatest {
		releases = releases.Latest()
	}
	releases, err := releases.Matching(params.Version)
	if err != nil {
		return err
	}
	out := wire.OpenshiftVersions{}
	for _, release := range releases {
		out[release.Version] = wire.OpenshiftVersion{
			DisplayName: release.DisplayName, SupportLevel: wire.OpenshiftVersionSupportLevel(release.SupportLevel),
			Default: release.Default, CPUArchitectures: release.CPUArchitectures,
		}
	}
	return ok(w, out)
}

// V2ListReleaseSources lists where releases are looked for.
func (s *server) V2ListReleaseSources(w http.ResponseWriter, r *http.Request) error {
	out := make(wire.ReleaseSources, len(s.ReleaseSources))
	for i, source := range s.ReleaseSources {
		out[i] = releaseSourceToWire(source)
	}
	return ok(w, out)
}

func releaseSourceToWire(s openshift.ReleaseSource) wire.ReleaseSource {
	out := wire.ReleaseSource{
		OpenshiftVersion:      s.OpenShiftVersion,
		MultiCPUArchitectures: []wire.ReleaseSourceMultiCPUArchitectures{}, UpgradeChannels: []wire.UpgradeChannel{},
	}
	for _, name := range s.MultiCPUArchitectures {
		out.MultiCPUArchitectures = append(out.MultiCPUArchitectures, wire.ReleaseSourceMultiCPUArchitectures(name))
	}
	for _, c := range s.UpgradeChannels {
		channel := wire.UpgradeChannel{
			CPUArchitecture: wire.UpgradeChannelCPUArchitecture(c.CPUArchitecture),
			Channels:        []wire.ReleaseChannel{},
		}
		for _, name := range c.Channels {
			channel.Channels = append(channel.Channels, wire.ReleaseChannel(name))
		}
		out.UpgradeChannels = append(out.UpgradeChannels, channel)
	}
	return out
}

// V2ListComponentVersions lists the versions of the service and its parts.
func (s *server) V2ListComponentVersions(w http.ResponseWriter, r *http.Request) error {
	return ok(w, wire.ListVersions{Versions: orEmptyMap(s.ComponentVersions), ReleaseTag: s.Version})
}

// listOSImages lists the live images that discovery images are made from.
func (s *server) listOSImages(w http.ResponseWriter, _ *http.Request) error {
	out := []wire.LiveImage{}
	if s.OSImages != nil {
		for _, image := range s.OSImages() {
			out = append(out, wire.LiveImage{
				OpenShiftVersion: image.OpenShiftVersion, CPUArchitecture: image.CPUArchitecture, Version: image.Version, Type: image.Type,
				SHA256: image.SHA256,
			})
		}
	}
	return ok(w, out)
}
