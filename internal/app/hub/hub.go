// Package hub has the commands for hub clusters: slipway kube.
package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"slipway/api/kube"
	"slipway/api/kube/webhook"
	"slipway/deploy/crds"
	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	usercli "slipway/internal/cli"
	"slipway/internal/client/contexts"
	"slipway/internal/platform/guard"
	"slipway/internal/platform/hostexec"
)

// Commands are the commands below "kube".
type Commands struct {
	Run  RunCommand  `cmd:"" default:"withargs" help:"Run the controllers of Slipway's resources: clients of the service and of a hub cluster."`
	CRDs CRDsCommand `cmd:"" name:"crds" help:"Print the definitions of Slipway's resources: slipway kube crds | kubectl apply --server-side -f -"`
}

// RunCommand runs the controllers.
type RunCommand struct {
	usercli.Service
	Kubeconfig    string   `env:"KUBECONFIG" type:"path" help:"Access to the hub cluster; by default the account of the pod." placeholder:"FILE"`
	Namespace     string   `name:"lease-namespace" env:"SLIPWAY_KUBE_LEASE_NAMESPACE" help:"Namespace of the lease by which one of several processes is elected; by default none is." placeholder:"NAME"`
	Metrics       string   `name:"metrics-listen" env:"SLIPWAY_KUBE_METRICS_LISTEN" help:"Address to serve metrics on, such as :8080." placeholder:"ADDRESS"`
	Probes        string   `name:"probes-listen" env:"SLIPWAY_KUBE_PROBES_LISTEN" help:"Address to serve /healthz on." placeholder:"ADDRESS"`
	FetchNetworks []string `name:"fetch-networks" env:"SLIPWAY_FETCH_NETWORKS" help:"The only networks, CIDR, that API servers of installed clusters are in; by default all but this machine and its links." placeholder:"CIDR"`
	FetchHosts    []string `name:"fetch-hosts" env:"SLIPWAY_FETCH_HOSTS" help:"API servers of installed clusters that users may name although they are on this machine or its links." placeholder:"HOST:PORT"`
	Webhook       Webhook  `embed:"" prefix:"webhook-"`
}

// Webhook is how the API server of the hub reaches the webhook; without Listen there is none.
type Webhook struct {
	Listen    string `env:"SLIPWAY_KUBE_WEBHOOK_LISTEN" help:"Address on which the API server asks about changes of resources, such as :9443; by default it does not." placeholder:"ADDRESS"`
	URL       string `name:"url" env:"SLIPWAY_KUBE_WEBHOOK_URL" help:"Where the API server reaches that address, outside of the cluster." placeholder:"https://HOST:PORT"`
	Service   string `env:"SLIPWAY_KUBE_WEBHOOK_SERVICE" help:"The Service that leads to that address, on port 443." placeholder:"NAMESPACE/NAME"`
	Namespace string `env:"SLIPWAY_KUBE_WEBHOOK_NAMESPACE" help:"Namespace of the Secret with its certificate; by default the Service's, or the lease's." placeholder:"NAME"`
}

// open returns the webhook, nil where there is none.
func (c *RunCommand) open(p *process.Process) (*webhook.Webhook, error) {
	if c.Webhook.Listen == "" {
		if c.Webhook.URL+c.Webhook.Service != "" {
			return nil, errors.New("webhook: require --webhook-listen with --webhook-url or --webhook-service, found none")
		}
		return nil, nil
	}
	namespace, name, both := strings.Cut(c.Webhook.Service, "/")
	if c.Webhook.Service != "" && !both {
		return nil, fmt.Errorf("--webhook-service: require NAMESPACE/NAME, found %q", c.Webhook.Service)
	}
	return webhook.New(webhook.Options{
		Listen: c.Webhook.Listen, URL: c.Webhook.URL, Service: types.NamespacedName{Namespace: namespace, Name: name},
		Namespace: cmp.Or(c.Webhook.Namespace, namespace, c.Namespace), Now: p.Now, Log: p.Log,
	})
}

// Run runs the controllers until ctx ends.
func (c *RunCommand) Run(ctx context.Context, p *process.Process) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	webhook, err := c.open(p)
	if err != nil {
		return err
	}
	outbound, err := guard.ReadOutbound(c.FetchNetworks, c.FetchHosts)
	if err != nil {
		return err
	}
	manager, err := kube.Manager(kube.Options{
		Config: config, Service: c.Client(), Namespace: c.Namespace, Metrics: c.Metrics, Probes: c.Probes, Webhook: webhook,
		Outbound: outbound,
		Log:      p.Log, Now: p.Now,
	})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

// againAfter is the pause before a hub is tried again.
const againAfter = 10 * time.Second

// Beside returns the controllers for a hub, as part of the process of a service. They are its administrator, by the file in its data
// folder. A kubeconfig that cannot be read is an error.
func Beside(kubeconfig string, o settings.Service) (*RunCommand, error) {
	c := &RunCommand{Kubeconfig: kubeconfig, FetchNetworks: o.FetchNetworks, FetchHosts: o.FetchHosts, Service: usercli.Service{
		DataDir: o.DataDir, Config: filepath.Join(o.DataDir, contexts.AdminFile), // not the contexts of whoever starts the service
	}}
	if _, err := c.config(); err != nil {
		return nil, err
	}
	return c, c.AfterApply()
}

// Follow runs the controllers until ctx ends. A hub that is away is tried again: the service works without it.
func (c *RunCommand) Follow(ctx context.Context, p *process.Process) {
	for {
		if err := c.Run(ctx, p); err != nil && ctx.Err() == nil {
			p.Log.Error("the resources of the hub are not followed", "error", err)
		}
		if hostexec.Sleep(ctx, againAfter) != nil {
			return
		}
	}
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
