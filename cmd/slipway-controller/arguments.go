package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"slipway/controller"
	"slipway/internal/model"
)

// bootstrapKubeconfig reaches the API of a single node before its own network does.
const bootstrapKubeconfig = "/etc/kubernetes/bootstrap-secrets/kubeconfig"

// apiAddressFile has the address of the API for what runs before the service network does
// (openshift/machine-config-operator, templates: apiserver-url.env).
const apiAddressFile = "/etc/kubernetes/apiserver-url.env"

// arguments are the flags; the variables are listed in docs/reference/controller.md, "Variables".
// Others that the contract names (OPENSHIFT_VERSION, CONTROL_PLANE_COUNT...) may be set and are not
// needed: the service knows them.
type arguments struct {
	ClusterID            uuid.UUID        `env:"CLUSTER_ID" required:"" help:"The cluster in the service."`
	InventoryURL         string           `env:"INVENTORY_URL" required:"" help:"The root URL of the service."`
	PullSecretToken      string           `env:"PULL_SECRET_TOKEN" help:"The token for the service, where there is no file."`
	PullSecretTokenFile  string           `default:"/etc/assisted-installer-controller/token" help:"A file with the token for the service."`
	SkipCertVerification bool             `env:"SKIP_CERT_VERIFICATION" help:"Take any certificate of the service."`
	CACertPath           string           `env:"CA_CERT_PATH" name:"ca-cert-path" help:"A file with certificates (PEM) to trust as well."`
	Namespace            string           `env:"NAMESPACE" default:"assisted-installer" help:"Where the controller's events are."`
	CheckClusterVersion  bool             `env:"CHECK_CLUSTER_VERSION" help:"Wait for the cluster version to be available."`
	MustGatherImage      string           `env:"MUST_GATHER_IMAGE" help:"Image of must-gather, or a JSON object of them by operator."`
	NotifyNumReboots     bool             `env:"NOTIFY_NUM_REBOOTS" help:"Report how often each node booted."`
	Kubeconfig           string           `help:"How to reach the cluster from outside."`
	Interval             time.Duration    `default:"30s" help:"The longest time between two rounds."`
	LogsInterval         time.Duration    `default:"5m" help:"The time between two uploads of logs."`
	LogFile              string           `help:"Also write the log to this file, and send it from there."`
	Version              kong.VersionFlag `help:"Print the version."`
}

// token returns the token in the file if there is one: the variable may hold a former token.
func (a arguments) token() (model.Secret, error) {
	content, err := os.ReadFile(a.PullSecretTokenFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return model.Secret(a.PullSecretToken), nil
	case err != nil:
		return "", fmt.Errorf("read the token: %w", err)
	}
	return model.Secret(strings.TrimSpace(string(content))), nil
}

// useProxy sends requests through the proxy of the new cluster where that has one.
func useProxy(carrier *http.Client, kube *rest.Config) error {
	proxy, err := controller.NewProxy(kube, time.Now)
	if err != nil {
		return fmt.Errorf("read the proxy of the cluster: %w", err)
	}
	if transport, ok := carrier.Transport.(*http.Transport); ok {
		transport.Proxy = proxy.For
	}
	return nil
}

// kubeConfig reaches the API of the new cluster, never through a proxy.
func (a arguments) kubeConfig() (*rest.Config, error) {
	config, err := a.kubeAccess()
	if err == nil {
		config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil } //nolint:nilnil // the meaning of http.Transport
	}
	return config, err
}

func (a arguments) kubeAccess() (*rest.Config, error) {
	path := a.Kubeconfig
	if _, err := os.Stat(bootstrapKubeconfig); path == "" && err == nil {
		path = bootstrapKubeconfig
	}
	if path == "" {
		if err := useAPIAddress(apiAddressFile); err != nil {
			return nil, err
		}
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("find the cluster this runs in (outside of one, give --kubeconfig): %w", err)
		}
		return config, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", path, err)
	}
	return config, nil
}

// useAPIAddress lets the client find the API where the host does: the file sets the variables that pods have of the
// service network, which may not work yet.
func useAPIAddress(file string) error {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the address of the API: %w", err)
	}
	for line := range strings.Lines(string(content)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if value = strings.Trim(value, `'"`); ok && value != "" && (name == "KUBERNETES_SERVICE_HOST" || name == "KUBERNETES_SERVICE_PORT") {
			if err := os.Setenv(name, value); err != nil {
				return fmt.Errorf("use the address of the API: %w", err)
			}
		}
	}
	return nil
}
