package cli

import (
	"context"
	"fmt"

	"sigs.k8s.io/yaml"

	"slipway/internal/client"
	"slipway/internal/wire"
)

// clusterInstallConfig are the commands below "cluster install-config".
type clusterInstallConfig struct {
	Show installConfigShow `cmd:"" help:"Print the install-config the cluster would be installed with; it holds the pull secret."`
	Set  installConfigSet  `cmd:"" help:"Override values of the install-config, replacing earlier overrides."`
}

type installConfigShow struct {
	clusterArgument
	fileFlag
}

// Run prints an install-config.
func (k *installConfigShow) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	text, err := ask(ctx, &at.Connection, k, "read the install-config of", func(c *client.Client, found *wire.Cluster) (string, error) {
		return c.InstallConfig(ctx, found.ID)
	})
	if err != nil {
		return err
	}
	content := []byte(text) // JSON
	if !at.forPrograms() {
		if content, err = yaml.JSONToYAML(content); err != nil {
			return fmt.Errorf("read the install-config: %w", err)
		}
	}
	return k.write(t, "install-config of "+k.name(), content)
}

type installConfigSet struct {
	clusterArgument
	Overrides []byte `arg:"" type:"filecontent" help:"File with the values as JSON or YAML; - is standard input." placeholder:"FILE"`
}

// Run sets the overrides of an install-config.
func (k *installConfigSet) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	overrides, err := yaml.YAMLToJSON(k.Overrides)
	if err != nil {
		return usagef("read the values: require JSON or YAML: %w", err)
	}
	_, err = ask(ctx, &at.Connection, k, "change the install-config of", func(c *client.Client, found *wire.Cluster) (nothing, error) {
		return nothing{}, c.UpdateInstallConfig(ctx, found.ID, string(overrides))
	})
	if err == nil && !at.forPrograms() {
		t.printf("install-config of %s changed\n", k.name())
	}
	return err
}
