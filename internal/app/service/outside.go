package service

import (
	"context"
	"path/filepath"

	"slipway/internal/app/doctor"
	"slipway/internal/cluster/openshift"
)

// Outside says what the service needs from other machines. CheckSettings has read the settings.
func (s *Service) Outside() doctor.Outside {
	out := doctor.Outside{
		Mirrors: s.deployment.releases.Mirrors, TrustBundles: s.deployment.releases.TrustBundles, OSImages: s.offers.osImages,
		Syncs: len(s.offers.sources) > 0,
	}
	out.AskImage = func(ctx context.Context, image openshift.OSImage) error {
		options, err := s.imageOptions()
		if err != nil {
			return err
		}
		return options.Ask(ctx, image)
	}
	for _, r := range s.offers.catalogue.List() {
		out.Releases = append(out.Releases, r.Image)
	}
	images, err := filepath.Glob(filepath.Join(s.options.Downloads.Path(s.options.DataDir), "*.iso"))
	if err == nil {
		out.Downloaded = len(images)
	}
	return out
}
