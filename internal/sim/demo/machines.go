package demo

import (
	"context"
	"encoding/base64"
	"fmt"
	"path/filepath"

	"slipway/internal/sim"
	"slipway/internal/sim/site"
	"slipway/internal/wire"
)

// folder returns the folder with the machines of the installation.
func (c *installation) folder() string { return filepath.Join(c.dir, "clusters", c.id.String()) }

// define makes the cluster and its InfraEnv in the service, and starts the
// machines with what the discovery image gives them.
func (c *installation) define(ctx context.Context) error {
	cluster, err := c.register(ctx)
	if err != nil {
		return err
	}
	c.id = cluster.ID
	if c.plan.override != "" {
		if err := c.client.UpdateInstallConfig(ctx, c.id, c.plan.override); err != nil {
			return fmt.Errorf("override the install-config: %w", err)
		}
	}
	if err := c.addManifests(ctx); err != nil {
		return err
	}
	image, err := c.discoveryImage(ctx)
	if err != nil {
		return err
	}
	return c.play(image)
}

// register makes the cluster in the service.
func (c *installation) register(ctx context.Context) (*wire.Cluster, error) {
	base, count := c.plan.Domain, c.plan.ControlPlane
	architecture := wire.ClusterCreateParamsCPUArchitecture(c.plan.release.cpuArchitecture())
	params := wire.ClusterCreateParams{
		Name: c.plan.Name, OpenshiftVersion: c.plan.Version, PullSecret: c.releases.pullSecret(c.plan.release).Reveal(), BaseDNSDomain: &base,
		ControlPlaneCount: &count, CPUArchitecture: &architecture,
	}
	for _, configure := range c.plan.configure {
		configure(&params)
	}
	return c.client.RegisterCluster(ctx, params)
}

func (c *installation) addManifests(ctx context.Context) error {
	folder := wire.CreateManifestParamsFolder("openshift")
	for name, content := range c.plan.manifests {
		_, err := c.client.CreateManifest(ctx, c.id, wire.CreateManifestParams{
			FileName: name, Folder: folder, Content: base64.StdEncoding.EncodeToString([]byte(content)),
		})
		if err != nil {
			return fmt.Errorf("add manifest %s: %w", name, err)
		}
	}
	return nil
}

// discoveryImage makes an InfraEnv and reads what its image gives machines.
func (c *installation) discoveryImage(ctx context.Context) (sim.Discovery, error) {
	release, bound := c.plan.Version, &c.id
	architecture := wire.InfraEnvCreateParamsCPUArchitecture(c.plan.release.cpuArchitecture())
	if c.plan.lateBinding {
		bound = nil
	}
	image := wire.ImageTypeMinimalIso // no platform lacks it
	if architecture == wire.InfraEnvCreateParamsCPUArchitectureS390X {
		image = wire.ImageTypeFullIso
	}
	env, err := c.client.RegisterInfraEnv(ctx, wire.InfraEnvCreateParams{
		Name: c.plan.Name + "_infra-env", PullSecret: c.releases.pullSecret(c.plan.release).Reveal(), ClusterID: bound,
		OpenshiftVersion: &release, CPUArchitecture: &architecture, ImageType: &image,
	})
	if err != nil {
		return sim.Discovery{}, fmt.Errorf("make an InfraEnv: %w", err)
	}
	c.infraEnv = env.ID
	config, err := c.client.DiscoveryIgnition(ctx, env.ID)
	if err != nil {
		return sim.Discovery{}, fmt.Errorf("download the discovery Ignition: %w", err)
	}
	return sim.ReadDiscovery(config)
}

// play starts the machines and the simulated cluster.
func (c *installation) play(image sim.Discovery) error {
	place, err := site.Open(filepath.Join(c.folder(), "site"))
	if err != nil {
		return err
	}
	if err := place.SetCluster(c.plan.Cluster); err != nil {
		return err
	}
	if err := place.SetNames(c.plan.names); err != nil {
		return err
	}
	c.place = place
	log := c.log.With("cluster", c.plan.Name)
	cluster, err := sim.NewCluster(sim.ClusterOptions{
		Root: filepath.Join(c.folder(), "cluster"), Site: place, Speed: c.Speed, Log: log, Cloud: c.plan.cloud,
		Controller: &sim.ControllerOptions{
			ServiceURL: image.ServiceURL, ClusterID: c.id, Authority: image.Authority, Site: place, Speed: c.Speed,
			Root: filepath.Join(c.folder(), "controller"), Log: log,
		},
	})
	if err != nil {
		return err
	}
	c.goOn("cluster "+c.plan.Name, cluster.Run)
	c.boot = func(host hostPlan) error { return c.bootFrom(image, host) }
	for _, host := range c.plan.hosts {
		if err := c.boot(host); err != nil {
			return err
		}
	}
	return nil
}

// bootFrom starts a machine with what a discovery image gives it.
func (c *installation) bootFrom(image sim.Discovery, host hostPlan) error {
	machine, err := sim.NewMachine(sim.MachineOptions{
		Spec: host.spec, Root: filepath.Join(c.folder(), host.spec.Hostname), Site: c.place,
		ServiceURL: image.ServiceURL, InfraEnvID: image.InfraEnvID, Token: image.Token,
		Authority: image.Authority, AuthorityPath: image.AuthorityPath,
		AgentVersion: image.AgentVersion, OthersApprove: host.othersApprove,
		Speed: c.Speed, Faults: host.faults, Log: c.log.With("cluster", c.plan.Name),
	})
	if err == nil {
		c.goOn("machine "+host.spec.Hostname, machine.Run)
	}
	return err
}

// goOn runs a part until the end of the demo.
func (c *installation) goOn(what string, play func(context.Context) error) {
	c.playing.Go(func() {
		if err := play(c.machines); err != nil {
			c.board.say("%s has stopped: %s", what, err)
		}
	})
}
