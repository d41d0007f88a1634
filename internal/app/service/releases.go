package service

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"slipway/internal/app/settings"
	"slipway/internal/app/versions"
	"slipway/internal/cluster/openshift"
	"slipway/internal/images/release"
	"slipway/internal/images/updateservice"
	"slipway/internal/platform/userids"
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

// leases is where processes of this machine lock the users of installers.
const leases = "/run/slipway-installers"

// sharedUser runs installers where the machine has not the users of the settings.
var sharedUser = release.User{UID: 65533, GID: 65533}

// chooseUsers sets who installers run as: one of a range each, where the service is root and the machine has them. A sandbox that is
// required requires them too.
func (s *Service) chooseUsers(o *release.Options, ids *userids.Range, folder string) error {
	if os.Geteuid() != 0 {
		o.User = nil // only root runs programs as others
		s.logger.Info("installers of releases run as the user of the service", "uid", os.Geteuid())
		return nil
	}
	if ids == nil {
		s.logger.Info("installers of releases run as one user", "user", o.User)
		return nil
	}
	pool, err := userids.Open(*ids, folder)
	switch {
	case err == nil:
		o.Users = pool
		return nil
	case o.Sandbox == release.SandboxRequired:
		return fmt.Errorf("INSTALLER_SANDBOX=required, INSTALLER_USER=%s: %w", ids, err)
	}
	shared := sharedUser
	o.User = &shared
	s.logger.Warn("installers of releases run as one user: those that run at once are kept apart by their sandbox only", "uid", shared.UID,
		"error", err)
	return nil
}

// checkSandbox refuses to start without the sandbox that settings require, and warns without one that they wish.
func (s *Service) checkSandbox(ctx context.Context, wanted release.Sandbox) error {
	err := s.releases.CheckSandbox(ctx)
	if err == nil {
		return nil
	}
	if wanted == release.SandboxRequired {
		return fmt.Errorf("INSTALLER_SANDBOX=required: %w (allow user namespaces to the service, or set best-effort)", err)
	}
	s.logger.Warn("installers of releases run without a sandbox: release images have to be trusted", "error", err)
	return nil
}
