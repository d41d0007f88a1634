// Package kube serves Slipway's API as custom resources of Kubernetes. Its controllers are clients of the service: they translate, and the
// API decides.
package kube

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controller "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"slipway/api/kube/agent"
	"slipway/api/kube/agentinstall"
	"slipway/api/kube/classification"
	"slipway/api/kube/cluster"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/api/kube/infraenv"
	"slipway/api/kube/objects"
	"slipway/api/kube/resource"
	"slipway/api/kube/spoke"
	"slipway/api/kube/webhook"
	service "slipway/internal/client"
	"slipway/internal/platform/guard"
)

// resync is how often all resources are looked at again, for changes that were missed.
const resync = 10 * time.Minute

// atOnce is how many resources of a kind are followed at once: most of the time of each is the service's.
const atOnce = 4

// Options configure the controllers; Config and Service are required.
type Options struct {
	Config  *rest.Config
	Service *service.Client
	// Namespace is where the lease of the elected process is; empty: none is elected.
	Namespace string
	// Metrics and Probes are addresses to listen on; empty: none.
	Metrics, Probes string
	// Webhook refuses changes of resources; nil: none does.
	Webhook *webhook.Webhook
	// Outbound bounds where kubeconfigs of installed clusters lead, which users write.
	Outbound guard.Outbound
	Log      *slog.Logger
	Now      func() time.Time
}

// Manager returns the controllers; its Start runs them.
func Manager(o Options) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, admission.AddToScheme, agentinstall.AddToScheme, hiveext.AddToScheme, hive.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register the types of resources: %w", err)
		}
	}
	config := rest.CopyConfig(o.Config)
	config.QPS = -1 // the API server shares itself out, by priority and fairness
	ctrl.SetLogger(logr.FromSlogHandler(o.Log.Handler()))
	const none = "0" // as controller-runtime has it
	every := resync
	watched := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{resource.WatchLabel: "true"})}
	referred := map[client.Object]cache.ByObject{&corev1.Secret{}: watched, &corev1.ConfigMap{}: watched}
	options := ctrl.Options{
		Scheme: scheme, Logger: logr.FromSlogHandler(o.Log.Handler()),
		Metrics: server.Options{BindAddress: cmp.Or(o.Metrics, none)}, HealthProbeBindAddress: cmp.Or(o.Probes, none),
		LeaderElection: o.Namespace != "", LeaderElectionNamespace: o.Namespace, LeaderElectionID: "slipway-kube",
		LeaderElectionReleaseOnCancel: true,
		// A manager that ended may be followed by another one in the process, with controllers of the same names.
		Controller: controller.Controller{MaxConcurrentReconciles: atOnce, SkipNameValidation: new(true)},
		Cache:      cache.Options{SyncPeriod: &every, ByObject: referred},
	}
	if o.Webhook != nil {
		options.WebhookServer = o.Webhook.Server()
	}
	m, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("reach the API of Kubernetes: %w", err)
	}
	index := objects.New(o.Service, o.Log, o.Now)
	if err := m.Add(manager.RunnableFunc(index.Run)); err != nil {
		return nil, fmt.Errorf("follow the service: %w", err)
	}
	if err := addMetrics(m, index); err != nil {
		return nil, fmt.Errorf("export metrics: %w", err)
	}
	references := resource.References{Kube: m.GetClient(), API: m.GetAPIReader(), Index: index, Events: m.GetEventRecorder("slipway-kube")}
	envs := &infraenv.Reconciler{References: references, Service: o.Service, Now: o.Now}
	if err := envs.Register(m); err != nil {
		return nil, fmt.Errorf("start the controller of InfraEnvs: %w", err)
	}
	agents := &agent.Reconciler{References: references, Service: o.Service, Now: o.Now}
	if err := agents.Register(m); err != nil {
		return nil, fmt.Errorf("start the controller of Agents: %w", err)
	}
	clusters := &cluster.Reconciler{References: references, Service: o.Service, Now: o.Now}
	if err := clusters.Register(m); err != nil {
		return nil, fmt.Errorf("start the controller of AgentClusterInstalls: %w", err)
	}
	spokes := &spoke.Reconciler{References: references, Outbound: o.Outbound, Now: o.Now}
	if err := spokes.Register(m); err != nil {
		return nil, fmt.Errorf("start the controller of nodes: %w", err)
	}
	err = classification.Register(m, &classification.Labeler{Kube: m.GetClient()}, &classification.Counter{Kube: m.GetClient(), Now: o.Now})
	if err != nil {
		return nil, fmt.Errorf("start the controllers of AgentClassifications: %w", err)
	}
	if o.Webhook != nil {
		if err := o.Webhook.Register(m); err != nil {
			return nil, fmt.Errorf("start the webhook: %w", err)
		}
	}
	if err := m.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, fmt.Errorf("serve probes: %w", err)
	}
	ready := healthz.Ping
	if o.Webhook != nil { // also of a process that waits to be elected
		ready = m.GetWebhookServer().StartedChecker()
	}
	if err := m.AddReadyzCheck("ready", ready); err != nil {
		return nil, fmt.Errorf("serve probes: %w", err)
	}
	return m, nil
}
