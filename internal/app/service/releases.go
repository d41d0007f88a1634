package service

import (
	"fmt"
	"net/http"

	"slipway/internal/app/images"
	"slipway/internal/app/settings"
	"slipway/internal/cluster/openshift"
	"slipway/internal/images/updateservice"
)

// offers are the releases and what belongs to them, as the settings name them.
type offers struct {
	catalogue *openshift.Catalogue
	sources   []openshift.ReleaseSource
	osImages  openshift.OSImages
	domains   []openshift.ManagedDomain
}

func readReleases(o settings.Releases) (out offers, err error) {
	if settings.Given(o.ReleaseSources) {
		if out.sources, err = openshift.ParseReleaseSources([]byte(o.ReleaseSources)); err != nil {
			return out, fmt.Errorf("read RELEASE_SOURCES: %w", err)
		}
	}
	var releases openshift.Releases
	switch {
	case settings.Given(o.ReleaseImages):
		if releases, err = openshift.ParseReleases([]byte(o.ReleaseImages)); err != nil {
			return out, fmt.Errorf("read RELEASE_IMAGES: %w", err)
		}
	case len(out.sources) == 0:
		releases = openshift.DefaultReleases()
	}
	out.catalogue = openshift.NewCatalogue(releases)
	if out.osImages, err = images.OSImages(o.OSImages); err != nil {
		return out, err
	}
	if out.domains, err = openshift.ParseDomains(o.BaseDNSDomains); err != nil {
		return out, fmt.Errorf("read BASE_DNS_DOMAINS: %w", err)
	}
	return out, nil
}

// readReleaseSources keeps the catalogue up to date where there are sources.
func (s *Service) readReleaseSources() error {
	if len(s.offers.sources) == 0 {
		return nil
	}
	update, err := settings.WebAddress("OCM_BASE_URL", s.options.UpdateService)
	if err != nil {
		return err
	}
	lifeCycles, err := settings.WebAddress("RED_HAT_PRODUCT_LIFE_CYCLE_DATA_API_BASE_URL", s.options.LifeCycles)
	if err != nil {
		return err
	}
	if s.options.SourcesInterval <= 0 {
		return fmt.Errorf("read OPENSHIFT_RELEASE_SYNCER_INTERVAL: require more than nothing, found %s", s.options.SourcesInterval)
	}
	syncer := &updateservice.Syncer{
		Sources: s.offers.sources, Catalogue: s.offers.catalogue, UpdateService: update, LifeCycles: lifeCycles,
		Client: http.DefaultClient, Interval: s.options.SourcesInterval, Log: s.logger,
	}
	s.background("release sources", syncer.Run)
	return nil
}
