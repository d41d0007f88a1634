package controller

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"k8s.io/client-go/rest"

	"slipway/internal/client"
	"slipway/internal/platform/hostexec"
)

// Options holds the dependencies and settings of a controller.
type Options struct {
	// ClusterID names the cluster in the service.
	ClusterID uuid.UUID
	// Service is the client of the service.
	Service *client.Client
	// Kube is the client configuration for the API of the new cluster.
	Kube *rest.Config
	// Namespace holds the controller's events; assisted-installer if empty.
	Namespace string
	// CheckClusterVersion also waits for the operator cvo.
	CheckClusterVersion bool
	// Interval is the longest time between two rounds; 30 s if zero. A round comes
	// earlier when a certificate request or a node appears or a node changes its readiness,
	// and when a stage is reached, after a tenth of it or a second, whichever is less.
	Interval time.Duration
	// LogsInterval is the time between two uploads of logs; 5 min if zero.
	LogsInterval time.Duration
	// LogFile is the file Log writes to, sent to the service; no logs are sent if empty.
	LogFile string
	// SeenFile keeps the cluster as the service showed it last, for a restart while the service is away; it is not kept if empty.
	SeenFile string
	// Admin makes the client configuration of the administrator from a kubeconfig; nil: with its certificate, for the API of Kube.
	Admin func(kubeconfig []byte) (*rest.Config, error)
	// Runner runs oc, which must-gather and counting reboots need; nil: there is none.
	Runner hostexec.Runner
	// MustGatherImages are the images of must-gather: one, or a JSON object by operator.
	MustGatherImages string
	// NotifyReboots reports how often each node booted.
	NotifyReboots bool
	// Log receives the log.
	Log *slog.Logger
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// Defaults of Options (docs/reference/controller.md, "Tasks").
const (
	DefaultNamespace    = "assisted-installer"
	DefaultInterval     = 30 * time.Second
	DefaultLogsInterval = 5 * time.Minute
)

// ErrOptions marks missing Options.
var ErrOptions = errors.New("incomplete controller options")

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.ClusterID == uuid.Nil:
		return o, fmt.Errorf("%w: require a cluster id", ErrOptions)
	case o.Service == nil:
		return o, fmt.Errorf("%w: require a service", ErrOptions)
	case o.Kube == nil:
		return o, fmt.Errorf("%w: require a kube API", ErrOptions)
	}
	if o.Admin == nil {
		o.Admin = func(kubeconfig []byte) (*rest.Config, error) { return administrator(o.Kube, kubeconfig) }
	}
	if o.Namespace == "" {
		o.Namespace = DefaultNamespace
	}
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	if o.LogsInterval <= 0 {
		o.LogsInterval = DefaultLogsInterval
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default of the clock that is passed in
	}
	return o, nil
}
