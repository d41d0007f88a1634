package activities

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"slipway/internal/blob"
	"slipway/internal/ignition"
	"slipway/internal/installation"
	"slipway/internal/installconfig"
	"slipway/internal/model"
	"slipway/internal/release"
	"slipway/internal/store"
)

// Files makes what hosts install from.
type Files struct {
	Store    *store.Store
	Blob     *blob.Store
	Releases *release.Releases
	// ServiceCA is the certificate authority of this service in PEM, if hosts need it.
	ServiceCA string
}

// ExtractInstaller loads the installer of the cluster's release into the cache of the
// machine this runs on. GenerateIgnition finds it there, or loads it itself when it
// runs elsewhere.
func (a *Files) ExtractInstaller(ctx context.Context, r InstallRequest) error {
	c, err := a.Store.Cluster(ctx, r.ClusterID)
	if err != nil {
		return final(err)
	}
	installer, err := a.installer(ctx, c)
	if err != nil {
		return err
	}
	defer installer.Close()
	_, err = a.Store.UpdateCluster(ctx, c.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.ReleaseComponents = map[string]string{}
		for _, name := range []string{componentMCO, componentMustGather} {
			if image, ok := installer.Release.Images[name]; ok {
				c.ReleaseComponents[name] = image
			}
		}
		return nil
	})
	return final(err)
}

// GenerateIgnition writes the install-config, runs the installer with the cluster's
// manifests, and stores its files and the Ignition of every host. A failure of the
// installer is final and carries its last words; the whole output is stored.
func (a *Files) GenerateIgnition(ctx context.Context, r InstallRequest) error {
	stop := beat(ctx)
	defer stop()
	c, err := a.Store.Cluster(ctx, r.ClusterID)
	if err != nil {
		return final(err)
	}
	hosts, err := a.Store.ClusterHosts(ctx, r.ClusterID)
	if err != nil {
		return err
	}
	config, err := a.installConfig(ctx, c, hosts)
	if err != nil {
		return refuse(err)
	}
	manifests, err := a.manifests(ctx, c)
	if err != nil {
		return refuse(err)
	}
	installer, err := a.installer(ctx, c)
	if err != nil {
		return err
	}
	defer installer.Close()
	out, err := installer.Generate(ctx, release.GenerateInput{
		InstallConfig: config, Manifests: manifests, SingleNode: c.SingleNode(), BootstrapNodeIP: bootstrapIP(c, hosts),
	})
	if err != nil {
		return a.failed(ctx, c, err)
	}
	return a.store(ctx, c, hosts, config, out)
}

func (a *Files) installer(ctx context.Context, c *model.Cluster) (*release.Installer, error) {
	stop := beat(ctx)
	defer stop()
	installer, err := a.Releases.Installer(ctx, c.ReleaseImage, c.Platform.Type, c.PullSecret)
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
	if _, perr := a.Blob.PutSecret(ctx, installation.Key(c.ID, "installer.log"), []byte(ran.Log)); perr != nil {
		return perr
	}
	if ran.ExitCode == -1 {
		return err // it was killed: another try can end differently
	}
	return temporal.NewNonRetryableApplicationError(ran.Error(), FailureRefused, nil)
}

func (a *Files) installConfig(ctx context.Context, c *model.Cluster, hosts []*model.Host) ([]byte, error) {
	envs, err := a.Store.InfraEnvs(ctx, c.ID, "")
	if err != nil {
		return nil, err
	}
	var options installconfig.Options
	for _, e := range envs {
		if e.AdditionalTrustBundle != "" {
			options.TrustBundles = append(options.TrustBundles, e.AdditionalTrustBundle)
		}
	}
	config, err := installconfig.Build(c, hosts, options)
	if err != nil {
		return nil, err
	}
	return config.YAML()
}

func (a *Files) manifests(ctx context.Context, c *model.Cluster) (map[string][]byte, error) {
	list, err := a.Store.Manifests(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, m := range list {
		if files[m.Folder+"/"+m.FileName], err = a.Blob.GetRef(ctx, m.Blob); err != nil {
			return nil, fmt.Errorf("read manifest %s/%s: %w", m.Folder, m.FileName, err)
		}
	}
	return files, nil
}

// store writes everything hosts and users download. Writing it again is harmless.
func (a *Files) store(ctx context.Context, c *model.Cluster, hosts []*model.Host, config []byte, out *release.Output) error {
	bootstrap, err := ignition.Bootstrap(ignition.BootstrapInput{Config: out.Bootstrap, Hosts: hosts, SingleNode: c.SingleNode()})
	if err != nil {
		return refuse(err)
	}
	files := map[string][]byte{
		"install-config.yaml": config, "bootstrap.ign": bootstrap, "metadata.json": out.Metadata,
		"kubeconfig-noingress": out.Kubeconfig, "kubeadmin-password": []byte(out.KubeadminPassword.Reveal()),
		"installer.log": []byte(out.Log),
	}
	roles := map[model.Role][]byte{}
	for role, raw := range map[model.Role][]byte{model.RoleMaster: out.Master, model.RoleWorker: out.Worker, model.RoleArbiter: out.Arbiter} {
		if len(raw) == 0 {
			continue
		}
		if roles[role], err = ignition.Role(ignition.RoleInput{Config: raw, ServiceCA: a.ServiceCA, IPv6: hasIPv6(c)}); err != nil {
			return refuse(err)
		}
		files[string(role)+".ign"] = roles[role]
	}
	for _, h := range hosts {
		config, err := ignition.Host(ignition.HostInput{Host: h, Role: roles[h.Role], NodeIPHint: ignition.NodeIPHint(c, h)})
		if err != nil {
			return refuse(err)
		}
		files[ignition.HostFileName(h.Role, h.ID)] = config
	}
	for name, data := range files {
		if _, err := a.Blob.PutSecret(ctx, installation.Key(c.ID, name), data); err != nil {
			return fmt.Errorf("store %s: %w", name, err)
		}
	}
	return nil
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

// beat tells Temporal that an activity works, until stop is called.
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

// bootstrapIP is the address of the bootstrap host in the first machine network.
func bootstrapIP(c *model.Cluster, hosts []*model.Host) netip.Addr {
	for _, h := range hosts {
		if !h.Bootstrap || h.Inventory == nil || len(c.MachineNetworks) == 0 {
			continue
		}
		for _, nic := range h.Inventory.Interfaces {
			for _, text := range append(append([]string{}, nic.Ipv4Addresses...), nic.Ipv6Addresses...) {
				if p, err := netip.ParsePrefix(text); err == nil && c.MachineNetworks[0].Contains(p.Addr()) {
					return p.Addr()
				}
			}
		}
	}
	return netip.Addr{}
}

func hasIPv6(c *model.Cluster) bool {
	for _, n := range c.MachineNetworks {
		if n.Addr().Is6() {
			return true
		}
	}
	return false
}
