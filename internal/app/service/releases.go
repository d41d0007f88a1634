package service

import (
	"fmt"
	"net/http"

	"slipway/internal/app/settings"
	"slipway/internal/app/versions"
	"slipway/internal/cluster/openshift"
	"slipway/internal/images/release"
	"slipway/internal/images/updateservice"
)

// offers are the releases and what belongs to them.
type offers struct {
	catalogue *openshift.Catalogue
	sources   []openshift.ReleaseSource
	osImages  openshift.OSImages
	onDemand  bool // the images
	domains   []openshift.ManagedDomain
}

func readReleases(o settings.Releases, dataDir string) (out offers, err error) {
	found, err := versions.Read(versions.Lists{
		ReleaseImages: o.ReleaseImages, OSImages: o.OSImages, ReleaseSources: o.ReleaseSources,
	}, dataDir)
	if err != nil {
		return out, err
	}
	out.catalogue = openshift.NewCatalogue(found.Releases)
	out.sources, out.osImages, out.onDemand = found.Sources, found.OSImages, found.OnDemand
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
	syncer := &updateservice.Syncer{
		Sources: s.offers.sources, Catalogue: s.offers.catalogue, UpdateService: update, LifeCycles: lifeCycles,
		Client: http.DefaultClient, Interval: s.options.SourcesInterval, Log: s.logger,
	}
	s.background("release sources", syncer.Run)
	return nil
}

// checkSandbox refuses to start without the sandbox that settings require, and warns without one that they wish.
func (s *Service) checkSandbox(wanted release.Sandbox) error {
	err := s.releases.CheckSandbox()
	if err == nil {
		return nil
	}
	if wanted == release.SandboxRequired {
		return fmt.Errorf("INSTALLER_SANDBOX=required: %w (allow user namespaces to the service, or set best-effort)", err)
	}
	s.logger.Warn("installers of releases run without a sandbox: release images have to be trusted", "error", err)
	return nil
}
