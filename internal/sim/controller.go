package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"

	"slipway/controller"
	"slipway/internal/client"
	"slipway/internal/sim/kubeapi"
)

// Intervals of the controller on the simulated clock.
const (
	controllerInterval = 30 * time.Second
	controllerLogs     = 5 * time.Minute
	shortestInterval   = 200 * time.Millisecond
	shortestLogs       = 2 * time.Second
)

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
		o.Transport = http.DefaultTransport
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
				break
			}
		}
		if err := clock.Pause(ctx, look); err != nil {
			return err
		}
	}
	return clock.Wait(ctx, o.Times.Controller)
}

// pod is one run of the controller.
func (o ControllerOptions) pod(ctx context.Context, clock Clock) error {
	file, err := os.OpenFile(filepath.Join(o.Root, "controller.log"), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of the controller: %w", err)
	}
	defer file.Close()
	return controller.Run(ctx, controller.Options{
		ClusterID: o.ClusterID,
		Service: client.New(client.Options{
			BaseURL: o.ServiceURL, Token: o.Token, HTTPClient: &http.Client{Transport: o.Transport}, UserAgent: "slipway-controller",
		}),
		CheckClusterVersion: true,
		Kube:                kubeapi.Config(o.Site.API(), kubeapi.UserController),
		Interval:            max(clock.Real(controllerInterval), shortestInterval),
		LogsInterval:        max(clock.Real(controllerLogs), shortestLogs),
		LogFile:             file.Name(),
		Log:                 slog.New(slog.NewTextHandler(io.Writer(file), nil)),
	})
}
