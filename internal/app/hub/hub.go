// Package hub has the commands for hub clusters: slipway kube.
package hub

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"slipway/api/kube"
	"slipway/deploy/crds"
	"slipway/internal/app/process"
	usercli "slipway/internal/cli"
)

// Commands are the commands below "kube".
type Commands struct {
	Run  RunCommand  `cmd:"" default:"withargs" help:"Run the controllers of Slipway's resources: clients of the service and of a hub cluster."`
	CRDs CRDsCommand `cmd:"" name:"crds" help:"Print the definitions of Slipway's resources: slipway kube crds | kubectl apply --server-side -f -"`
}

// RunCommand runs the controllers.
type RunCommand struct {
	usercli.Service
	Kubeconfig string `env:"KUBECONFIG" type:"path" help:"Access to the hub cluster; by default the account of the pod." placeholder:"FILE"`
	Namespace  string `name:"lease-namespace" env:"SLIPWAY_KUBE_LEASE_NAMESPACE" help:"Namespace of the lease by which one of several processes is elected; by default none is." placeholder:"NAME"`
	Metrics    string `name:"metrics-listen" env:"SLIPWAY_KUBE_METRICS_LISTEN" help:"Address to serve metrics on, such as :8080." placeholder:"ADDRESS"`
	Probes     string `name:"probes-listen" env:"SLIPWAY_KUBE_PROBES_LISTEN" help:"Address to serve /healthz on." placeholder:"ADDRESS"`
}

// Run runs the controllers until ctx ends.
func (c *RunCommand) Run(ctx context.Context, p *process.Process) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	manager, err := kube.Manager(kube.Options{
		Config: config, Service: c.Client(), Namespace: c.Namespace, Metrics: c.Metrics, Probes: c.Probes, Log: p.Log, Now: p.Now,
	})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

func (c *RunCommand) config() (*rest.Config, error) {
	if c.Kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("find the hub cluster: require --kubeconfig outside of a pod: %w", err)
		}
		return config, nil
	}
	text, err := os.ReadFile(c.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read --kubeconfig: %w", err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(text)
	if err != nil {
		return nil, fmt.Errorf("read --kubeconfig %s: %w", c.Kubeconfig, err)
	}
	return config, nil
}

// CRDsCommand prints the definitions.
type CRDsCommand struct{}

// Run prints the definitions.
func (*CRDsCommand) Run(p *process.Process) error {
	files, err := fs.Glob(crds.Files, "*.yaml")
	if err != nil {
		return fmt.Errorf("list the definitions: %w", err)
	}
	for _, name := range files {
		content, err := crds.Files.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read the definition %s: %w", name, err)
		}
		if _, err := fmt.Fprintf(p.Stdout, "%s", content); err != nil {
			return err
		}
	}
	return nil
}
