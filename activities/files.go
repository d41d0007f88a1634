package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/nodeaddress"
	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/hostconfig/manifests"
	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// Files makes what hosts install from.
type Files struct {
	Store    *store.Store
	Blob     *blob.Store
	Releases *release.Releases
	// ServiceCA is the certificate authority of this service in PEM, if hosts need it.
	ServiceCA string
	// Manifests are the service's additions to every installation.
	Manifests manifests.Options
	// InstallConfig are the mirrors and certificates of the service's own.
	InstallConfig installconfig.Options
	// ControllerImage and ControllerPrograms are the same as in StepArgs.
	ControllerImage    string
	ControllerPrograms func() (map[string]wire.AgentProgram, error)
	// Dummy runs no installer and needs no release: for test environments.
	Dummy bool
}

// ResolveRelease freezes which release an installation uses: its digest, which its tag leads to now, and its components. A release
// without the signature that the policy requires ends the preparation here, before any host is asked for anything.
func (a *Files) ResolveRelease(ctx context.Context, r InstallRequest) error {
	if a.Dummy {
		return nil
	}
	stop := beat(ctx)
	defer stop()
	c, err := a.Store.Cluster(ctx, r.ClusterID)
	if err != nil {
		return nonRetryable(err)
	}
	if err := r.present(c); err != nil {
		return err
	}
	if c.Status != model.ClusterPreparingForInstallation || c.ReleasePullSpec != "" {
		return nil // hosts use it by now
	}
	info, verdict, err := a.Releases.Resolve(ctx, c.ReleaseImage, c.PullSecret)
	if err != nil {
		return refuse(err)
	}
	_, err = a.Store.UpdateCluster(ctx, c.ID, func(c *model.Cluster, tx *store.Tx) error {
		if err := r.present(c); err != nil {
			return err
		}
		if c.ReleasePullSpec == "" {
			freeze(c, info)
			c.ReleaseVerdict = verdict
			showVerdict(tx, c)
		}
		return nil
	})
	return nonRetryable(err)
}

// freeze records the release that an installation uses.
func freeze(c *model.Cluster, info release.Info) {
	c.ReleasePullSpec, c.ReleaseComponents = info.PullSpec, map[string]string{}
	for _, name := range append([]string{componentMCO, componentMustGather, componentCLI}, componentsCoreOS...) {
		if image, ok := info.Images[name]; ok {
			c.ReleaseComponents[name] = image
		}
	}
}

// showVerdict writes an event about who signed the release, or why it was not verified.
func showVerdict(tx *store.Tx, c *model.Cluster) {
	props := events.Props{"release": c.ReleasePullSpec}
	switch v := c.ReleaseVerdict; {
	case v.SignedBy != "":
		props["signed_by"] = v.SignedBy
		tx.Event(events.New(events.ReleaseVerified, lifecycle.AboutCluster(c), props, tx.Now()))
	case v.Problem != "":
		props["problem"] = v.Problem
		tx.Event(events.New(events.ReleaseUnverified, lifecycle.AboutCluster(c), props, tx.Now()))
	}
}

// ExtractInstaller loads the installer of the cluster's release into the cache of the
// machine this runs on. GenerateIgnition finds it there, or loads it itself when it
// runs elsewhere.
func (a *Files) ExtractInstaller(ctx context.Context, r InstallRequest) error {
	if a.Dummy {
		return nil
	}
	c, err := a.Store.Cluster(ctx, r.ClusterID)
	if err != nil {
		return nonRetryable(err)
	}
	installer, err := a.installer(ctx, c)
	if err != nil {
		return err
	}
	defer installer.Close()
	_, err = a.Store.UpdateCluster(ctx, c.ID, func(c *model.Cluster, _ *store.Tx) error {
		freeze(c, installer.Release)
		return nil
	})
	return nonRetryable(err)
}

// GenerateIgnition writes the install-config, runs the installer with the cluster's
// manifests, and stores its files and the Ignition of every host. A failure of the
// installer is not retried and carries the end of its output; the whole output is stored. Nothing is generated once the
// preparation is over: its workflow was reset in Temporal.
func (a *Files) GenerateIgnition(ctx context.Context, r InstallRequest) error {
	stop := beat(ctx)
	defer stop()
	c, err := a.Store.Cluster(ctx, r.ClusterID)
	if err != nil {
		return nonRetryable(err)
	}
	if err := r.present(c); err != nil {
		return err
	}
	if c.Status != model.ClusterPreparingForInstallation {
		return nil // hosts have the files by now: other keys and certificates would not fit them
	}
	hosts, err := a.Store.ClusterHosts(ctx, r.ClusterID)
	if err != nil {
		return err
	}
	envs, err := a.Store.InfraEnvsOf(ctx, c.ID, hosts)
	if err != nil {
		return err
	}
	if err := a.checkController(c, hosts); err != nil {
		return refuse(err)
	}
	config, err := a.installConfig(c, hosts, envs)
	if err != nil {
		return refuse(err)
	}
	files, err := a.manifests(ctx, c, hosts, envs)
	if err != nil {
		return refuse(err)
	}
	if a.Dummy {
		return a.store(ctx, c, hosts, config, dummyFiles(c))
	}
	installer, err := a.installer(ctx, c)
	if err != nil {
		return err
	}
	defer installer.Close()
	out, err := installer.Generate(ctx, release.GenerateInput{
		InstallConfig: config, Manifests: files, SingleNode: c.SingleNode(),
		BootstrapNodeIP: nodeaddress.Of(c, hosts).Bootstrap,
	})
	if err != nil {
		return a.failed(ctx, c, err)
	}
	return a.store(ctx, c, hosts, config, out)
}

func (a *Files) installer(ctx context.Context, c *model.Cluster) (*release.Installer, error) {
	stop := beat(ctx)
	defer stop()
	installer, err := a.Releases.Installer(ctx, release.Need{
		Image: c.PinnedRelease(), Platform: c.Platform.Type, Version: c.OpenShiftVersion, FIPS: installconfig.WantsFIPS(c),
		PullSecret: c.PullSecret,
	})
	if err != nil {
		return nil, refuse(fmt.Errorf("get the installer of release %s: %w", c.ReleaseImage, err))
	}
	return installer, nil
}

// failed keeps the installer's output for the user and ends the activity.
func (a *Files) failed(ctx context.Context, c *model.Cluster, err error) error {
	var ran *release.GenerateError
	if !errors.As(err, &ran) {
		return refuse(err)
	}
	if _, perr := a.Blob.PutSecret(ctx, blob.ClusterFile(c.ID, "installer.log"), []byte(ran.Log)); perr != nil {
		return perr
	}
	if ran.Retryable() {
		return err
	}
	return temporal.NewNonRetryableApplicationError(ran.Error(), FailureRefused, nil)
}

func (a *Files) installConfig(c *model.Cluster, hosts []*model.Host, envs []*model.InfraEnv) ([]byte, error) {
	config, err := installconfig.Build(c, hosts, a.InstallConfig.With(envs))
	if err != nil {
		return nil, err
	}
	return config.YAML()
}

// refuse ends the activity for good when only a change by the user can help.
func refuse(err error) error {
	for _, kind := range []error{model.ErrInvalid, model.ErrUnprocessable, model.ErrNotFound} {
		if errors.Is(err, kind) {
			return temporal.NewNonRetryableApplicationError(err.Error(), FailureRefused, nil)
		}
	}
	return err
}

// beatEvery is well within the heartbeat time-out of generating activities.
const beatEvery = 5 * time.Second

// beat records heartbeats of an activity until stop is called.
func beat(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		ticker := time.NewTicker(beatEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return cancel
}
