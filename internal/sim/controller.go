package sim

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"slipway/controller"
	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/sim/kubeapi"
)

// Intervals of the controller on the simulated clock.
const (
	controllerInterval = 30 * time.Second
	controllerLogs     = 5 * time.Minute
	shortestInterval   = time.Second // the controller watches nodes: they wake it sooner
	shortestLogs       = 2 * time.Second
)

// RunControllers runs a controller in each life of the control plane, as RunController does: a cluster that is installed
// again has a pod of its own. It returns the error of ctx.
func RunControllers(ctx context.Context, o ControllerOptions) error {
	for {
		life, err := o.Site.Started()
		if err != nil {
			return err
		}
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return awaitNewLife(ctx, o.Site, Clock{o.Speed}, life) })
		group.Go(func() error { return RunController(ctx, o) })
		if err := group.Wait(); !errors.Is(err, errNewLife) {
			return err
		}
	}
}

// RunController runs the real controller once a master of the cluster is ready, as the
// scheduler would, and again when it fails. It returns nil when the controller says that
// the installation has ended, or the error of ctx.
func RunController(ctx context.Context, o ControllerOptions) error {
	if o.Times == (Times{}) {
		o.Times = RealTimes
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Transport == nil {
		service, err := client.TransportPEM(o.Authority, false)
		if err != nil {
			return fmt.Errorf("trust the service: %w", err)
		}
		o.Transport = service.Transport
	}
	if err := os.MkdirAll(o.Root, 0o755); err != nil {
		return fmt.Errorf("make the folder of the controller: %w", err)
	}
	clock := Clock{o.Speed}
	if err := o.schedule(ctx, clock); err != nil {
		return err
	}
	for {
		err := o.pod(ctx, clock)
		if err == nil || ctx.Err() != nil || errors.Is(err, controller.ErrOptions) {
			return err
		}
		o.Log.Warn("controller failed", "error", err)
		if err := o.pause(ctx); err != nil {
			return err
		}
	}
}

// schedule waits until the pod of the controller has a node to run on.
func (o ControllerOptions) schedule(ctx context.Context, clock Clock) error {
	for {
		if api := o.Site.API(); api != "" {
			kube, err := kubernetes.NewForConfig(kubeapi.Config(api, kubeapi.UserAdmin))
			if err != nil {
				return fmt.Errorf("make the client of the scheduler: %w", err)
			}
			if ready, err := readyMasters(ctx, kube); err == nil && ready > 0 {
				err := o.startable(ctx, kube)
				if err == nil {
					break
				}
				o.Log.Warn("controller not started", "error", err)
			}
		}
		if err := clock.Pause(ctx, look); err != nil {
			return err
		}
	}
	return clock.Wait(ctx, o.Times.Controller)
}

// pod runs the controller once.
func (o ControllerOptions) pod(ctx context.Context, clock Clock) error {
	file, err := os.OpenFile(filepath.Join(o.Root, "controller.log"), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of the controller: %w", err)
	}
	defer file.Close()
	token, err := o.token(ctx)
	if err != nil {
		return err
	}
	return controller.Run(ctx, controller.Options{
		ClusterID: o.ClusterID,
		Service: client.New(client.Options{
			BaseURL: o.ServiceURL, Token: token, HTTPClient: &http.Client{Transport: o.Transport}, UserAgent: "slipway-controller",
		}),
		CheckClusterVersion: true,
		Kube:                kubeapi.Config(o.Site.Address(), kubeapi.UserController),
		Admin:               o.admin,
		Interval:            max(clock.Real(controllerInterval), shortestInterval),
		LogsInterval:        max(clock.Real(controllerLogs), shortestLogs),
		LogFile:             file.Name(),
		Log:                 slog.New(slog.NewTextHandler(io.Writer(file), nil)),
	})
}

// token returns the token that the Secret gives the pod.
func (o ControllerOptions) token(ctx context.Context) (model.Secret, error) {
	kube, err := kubernetes.NewForConfig(kubeapi.Config(o.Site.Address(), kubeapi.UserAdmin))
	if err != nil {
		return "", fmt.Errorf("make the client of the kubelet: %w", err)
	}
	secret, err := kube.CoreV1().Secrets(controllerNamespace).Get(ctx, controllerSecret, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("CreateContainerConfigError: %w", err)
	}
	content, found := secret.Data[tokenKey]
	if !found {
		// The API stores what was applied: real servers move stringData to data.
		content = []byte(secret.StringData[tokenKey])
	}
	return model.Secret(content), nil
}

// admin takes the administrator's kubeconfig of the service. The API here knows its callers by name: the certificate
// has to be one that real servers take for the administrator.
func (o ControllerOptions) admin(kubeconfig []byte) (*rest.Config, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(config.CertData)
	if block == nil {
		return nil, errors.New("the kubeconfig has no client certificate")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the client certificate: %w", err)
	}
	if !slices.Contains(certificate.Subject.Organization, "system:masters") {
		return nil, fmt.Errorf("require a certificate of the administrators, found %s", certificate.Subject)
	}
	return kubeapi.Config(o.Site.Address(), kubeapi.UserAdmin), nil
}
