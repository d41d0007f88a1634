package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/google/uuid"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/wire"
)

// InfraEnvCommands are the commands below "infra-env": discovery environments.
type InfraEnvCommands struct {
	Connection

	Create   infraEnvCreate   `cmd:"" help:"Make a discovery environment, for a cluster or for hosts without one."`
	List     infraEnvList     `cmd:"" help:"List the discovery environments."`
	Ignition infraEnvIgnition `cmd:"" help:"Download the Ignition hosts of a discovery environment boot with."`
}

type infraEnvCreate struct {
	Name       string `arg:"" help:"Name of the discovery environment."`
	Cluster    string `help:"Cluster its hosts belong to: name or id."`
	Version    string `help:"OpenShift version of the live image."`
	PullSecret []byte `required:"" type:"filecontent" help:"File with the pull secret." placeholder:"FILE"`
	SSHKey     []byte `name:"ssh-key" type:"filecontent" help:"File with public SSH keys that may log in to the live image." placeholder:"FILE"`
	NTP        string `help:"NTP servers of the hosts, separated by commas."`
}

// Run makes a discovery environment.
func (k *infraEnvCreate) Run(ctx context.Context, at *InfraEnvCommands, t *Terminal) error {
	c := at.Client()
	input := infraEnvInput{Name: k.Name, Version: k.Version, PullSecret: k.PullSecret, SSHKey: k.SSHKey, NTP: k.NTP}
	if k.Cluster != "" {
		cluster, err := FindCluster(ctx, c, k.Cluster)
		if err != nil {
			return err
		}
		input.Cluster = cluster
	}
	env, err := createInfraEnv(ctx, c, input)
	if err != nil {
		return err
	}
	if at.json() {
		return t.json(env)
	}
	t.printf("discovery environment %s created: %s\n", env.Name, env.ID)
	return nil
}

// infraEnvInput is what a discovery environment is made of.
type infraEnvInput struct {
	Name, Version      string
	Cluster            *wire.Cluster // nil for hosts without one
	PullSecret, SSHKey []byte
	NTP                string
}

func createInfraEnv(ctx context.Context, c *client.Client, in infraEnvInput) (*wire.InfraEnv, error) {
	params := wire.InfraEnvCreateParams{Name: in.Name, PullSecret: lines(in.PullSecret)}
	if in.Cluster != nil {
		params.ClusterID = &in.Cluster.ID
	}
	if in.Version != "" {
		params.OpenshiftVersion = &in.Version
	}
	if key := lines(in.SSHKey); key != "" {
		params.SSHAuthorizedKey = &key
	}
	if in.NTP != "" {
		params.AdditionalNtpSources = &in.NTP
	}
	env, err := c.RegisterInfraEnv(ctx, params)
	return env, failed(c.BaseURL(), "create discovery environment "+in.Name, err)
}

type infraEnvList struct {
	Cluster string `help:"Only those of this cluster: name or id."`
}

// Run prints the discovery environments.
func (k *infraEnvList) Run(ctx context.Context, at *InfraEnvCommands, t *Terminal) error {
	c := at.Client()
	id := uuid.Nil
	if k.Cluster != "" {
		cluster, err := FindCluster(ctx, c, k.Cluster)
		if err != nil {
			return err
		}
		id = cluster.ID
	}
	envs, err := c.ListInfraEnvs(ctx, id)
	if err != nil {
		return failed(at.URL, "list the discovery environments", err)
	}
	if at.json() {
		return t.json(envs)
	}
	table := view.Table{Header: []string{"NAME", "ID", "CLUSTER", "VERSION", "AGE"}}
	for _, e := range envs {
		cluster := ""
		if e.ClusterID != uuid.Nil {
			cluster = e.ClusterID.String()
		}
		table.Add(e.Name, e.ID.String(), cluster, e.OpenshiftVersion, t.age(e.CreatedAt.Time()))
	}
	t.printf("%s", table.String())
	return nil
}

type infraEnvIgnition struct {
	InfraEnv string `arg:"" help:"Name or id of the discovery environment."`
	File     string `short:"f" type:"path" help:"File to write to; standard output if not given."`
}

// Run downloads a discovery Ignition.
func (k *infraEnvIgnition) Run(ctx context.Context, at *InfraEnvCommands, t *Terminal) error {
	c := at.Client()
	env, err := FindInfraEnv(ctx, c, k.InfraEnv)
	if err != nil {
		return err
	}
	content, err := c.DiscoveryIgnition(ctx, env.ID)
	if err != nil {
		return failed(at.URL, "download the Ignition of "+k.InfraEnv, err)
	}
	if k.File == "" {
		t.printf("%s", content)
		return nil
	}
	if err := os.WriteFile(k.File, content, 0o600); err != nil {
		return fmt.Errorf("write the Ignition: %w", err)
	}
	t.printf("Ignition of %s: %s\n", env.Name, k.File)
	return nil
}
