package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/client"
	"slipway/internal/wire"
)

type clusterCreate struct {
	Name       string  `arg:"" optional:"" help:"Name of the cluster; may come from --from."`
	Version    *string `help:"OpenShift version; the service's default if not given." placeholder:"4.20"`
	Arch       *string `help:"CPU architecture of the hosts: x86_64, arm64, ppc64le, s390x or multi." placeholder:"x86_64"`
	NoInfraEnv bool    `help:"Do not create an InfraEnv."`
	OnFailure  *string `name:"on-failure" enum:"wait,fail,default" help:"When a host fails: wait for a command, or fail at once." placeholder:"POLICY"`
	clusterFlags
}

// Validate checks for the required settings of a new cluster.
func (k *clusterCreate) Validate() error {
	if k.From == nil && (k.Name == "" || k.BaseDomain == nil || k.PullSecret == nil) {
		return fmt.Errorf("require a name, --base-domain and --pull-secret, or --from with them")
	}
	return nil
}

// created is the output of clusterCreate for machines.
type created struct {
	Cluster  *wire.Cluster  `json:"cluster"`
	InfraEnv *wire.InfraEnv `json:"infra_env,omitempty"`
}

// Run defines a cluster and its InfraEnv.
func (k *clusterCreate) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	c := at.Client()
	params, err := k.definition(ctx, c)
	if err != nil {
		return err
	}
	if err := k.checkNames(ctx, c, params.Name); err != nil {
		return err
	}
	made := created{}
	if made.Cluster, err = c.RegisterCluster(ctx, params); err != nil {
		return failed(at.URL, "create cluster "+params.Name, err)
	}
	if k.OnFailure != nil {
		if _, err := c.SetOnFailure(ctx, made.Cluster.ID, wire.OnFailure{OnFailure: *k.OnFailure}); err != nil {
			return failed(at.URL, "set what follows a failure of cluster "+params.Name, err)
		}
	}
	if !k.NoInfraEnv {
		env := infraEnvOf(&params)
		env.ClusterID = &made.Cluster.ID
		if made.InfraEnv, err = c.RegisterInfraEnv(ctx, env); err != nil {
			return failed(at.URL, "create InfraEnv "+env.Name, err)
		}
	}
	if at.forPrograms() {
		return at.print(t, made)
	}
	t.printf("cluster %s created: %s\n", made.Cluster.Name, made.Cluster.ID)
	if made.InfraEnv != nil {
		t.printf("InfraEnv %s created: %s\n", made.InfraEnv.Name, made.InfraEnv.ID)
	}
	return nil
}

// checkNames refuses names that exist: commands take names, and none would find the cluster any more.
func (k *clusterCreate) checkNames(ctx context.Context, c *client.Client, name string) error {
	all, err := c.ListClusters(ctx, false)
	if err != nil {
		return failed(c.BaseURL(), "list the clusters", err)
	}
	for _, found := range all {
		if found.Name == name {
			return taken("cluster", name, found.ID)
		}
	}
	if k.NoInfraEnv {
		return nil
	}
	return checkInfraEnvName(ctx, c, infraEnvName(name))
}

func checkInfraEnvName(ctx context.Context, c *client.Client, name string) error {
	all, err := c.ListInfraEnvs(ctx, uuid.Nil)
	if err != nil {
		return failed(c.BaseURL(), "list the InfraEnvs", err)
	}
	for n := range all {
		if all[n].Name == name {
			return taken("InfraEnv", name, all[n].ID)
		}
	}
	return nil
}

func taken(kind, name string, id uuid.UUID) error {
	return &Failure{fmt.Errorf("%s %s exists already: %s", kind, name, id), exitConflict}
}

// infraEnvName returns the name of the InfraEnv that is made with a cluster.
func infraEnvName(cluster string) string { return cluster + "_infra-env" }

// definition returns the file with the flags merged over it.
func (k *clusterCreate) definition(ctx context.Context, c *client.Client) (wire.ClusterCreateParams, error) {
	flags, err := k.params()
	if err != nil {
		return wire.ClusterCreateParams{}, err
	}
	if k.Name != "" {
		flags.Name = &k.Name
	}
	only := struct {
		Version *string `json:"openshift_version,omitempty"`
		Arch    *string `json:"cpu_architecture,omitempty"`
	}{k.Version, k.Arch}
	params, err := define[wire.ClusterCreateParams](k.From, flags, only)
	if err == nil && params.OpenshiftVersion == "" {
		params.OpenshiftVersion, err = defaultVersion(ctx, c)
	}
	return params, err
}

// infraEnvOf returns the InfraEnv of a new cluster: its hosts use the cluster's proxy and time sources.
func infraEnvOf(p *wire.ClusterCreateParams) wire.InfraEnvCreateParams {
	env := wire.InfraEnvCreateParams{
		Name: infraEnvName(p.Name), PullSecret: p.PullSecret, OpenshiftVersion: &p.OpenshiftVersion, SSHAuthorizedKey: p.SSHPublicKey,
		AdditionalNtpSources: p.AdditionalNtpSource, NtpSources: p.NtpSources,
	}
	if a := p.CPUArchitecture; a != nil && *a != wire.ClusterCreateParamsCPUArchitectureMulti {
		arch := wire.InfraEnvCreateParamsCPUArchitecture(*a)
		env.CPUArchitecture = &arch
	}
	if p.Platform != nil && p.Platform.External.PlatformName == "oci" { // which boots no full image
		minimal := wire.ImageTypeMinimalIso
		env.ImageType = &minimal
	}
	env.Proxy = proxy(wire.Proxy{}, p.HTTPProxy, p.HTTPSProxy, p.NoProxy)
	return env
}

// defaultVersion returns the first version in the service's list.
func defaultVersion(ctx context.Context, c *client.Client) (string, error) {
	versions, err := c.OpenShiftVersions(ctx, false)
	if err != nil {
		return "", failed(c.BaseURL(), "ask for the versions", err)
	}
	for _, version := range slices.Sorted(maps.Keys(versions)) {
		if versions[version].Default {
			return version, nil
		}
	}
	return "", &Failure{fmt.Errorf("the service has no default version; choose one with --version: %s",
		strings.Join(slices.Sorted(maps.Keys(versions)), ", ")), exitFailed}
}
