package webhook

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	configuration "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hiveext"
)

// Name is the name of the ValidatingWebhookConfiguration, and the field manager that applies it.
const Name = "slipway-kube"

// Options configure the webhook. Either URL or Service is set.
type Options struct {
	// Listen is a host, which may be empty, and a port.
	Listen string
	// URL is where the API server reaches Listen, such as https://192.0.2.5:9443: outside of the cluster.
	URL string
	// Service names the Service, on port 443, that leads to Listen.
	Service types.NamespacedName
	// Namespace has the Secret of the certificate.
	Namespace string
	Now       func() time.Time
	Log       *slog.Logger
}

// Webhook is the server and its certificate.
type Webhook struct {
	options     Options
	certificate *certificate
	server      webhook.Server
}

// kinds are the resources that the webhook decides about. ClusterDeployments are read from deployments.
var kinds = []struct {
	resource schema.GroupVersionResource
	handler  func(scheme *runtime.Scheme, deployments kube.Reader) *admission.Webhook
}{
	{agentinstall.GroupVersion.WithResource("agents"), func(scheme *runtime.Scheme, _ kube.Reader) *admission.Webhook {
		return admission.WithValidator(scheme, agents)
	}},
	{agentinstall.GroupVersion.WithResource("infraenvs"), func(scheme *runtime.Scheme, deployments kube.Reader) *admission.Webhook {
		return admission.WithValidator(scheme, infraEnvs(deployments))
	}},
	{hiveext.GroupVersion.WithResource("agentclusterinstalls"), func(scheme *runtime.Scheme, _ kube.Reader) *admission.Webhook {
		return admission.WithValidator(scheme, clusterInstalls)
	}},
}

// Handlers returns the functions that decide, by the names of resources.
func Handlers(scheme *runtime.Scheme, deployments kube.Reader) map[string]*admission.Webhook {
	out := map[string]*admission.Webhook{}
	for _, kind := range kinds {
		out[kind.resource.Resource] = kind.handler(scheme, deployments)
	}
	return out
}

// New returns the webhook for the options of a manager. Errors say which option is wrong.
func New(o Options) (*Webhook, error) {
	if o.Namespace == "" {
		return nil, fmt.Errorf("webhook: require a namespace for the Secret %s, found none", secretName)
	}
	listen, port, err := net.SplitHostPort(o.Listen)
	number, wrong := strconv.ParseUint(port, 10, 16)
	if err != nil || wrong != nil || number == 0 {
		return nil, fmt.Errorf("webhook: require an address to listen on such as :9443, found %q", o.Listen)
	}
	host := o.Service.Name + "." + o.Service.Namespace + ".svc"
	if o.URL != "" {
		at, err := url.Parse(o.URL)
		if err != nil || at.Scheme != "https" || at.Hostname() == "" || at.RawQuery != "" || at.Fragment != "" || at.User != nil {
			return nil, fmt.Errorf("webhook: require an address such as https://192.0.2.5:9443, found %q", o.URL)
		}
		host = at.Hostname()
	} else if o.Service.Name == "" || o.Service.Namespace == "" {
		return nil, fmt.Errorf("webhook: require an address or a Service for the API server, found neither")
	}
	c := &certificate{namespace: o.Namespace, host: host, now: o.Now, log: o.Log, renewed: make(chan struct{}, 1)}
	return &Webhook{options: o, certificate: c, server: webhook.NewServer(webhook.Options{
		Host: listen, Port: int(number), TLSOpts: []func(*tls.Config){func(t *tls.Config) {
			t.MinVersion, t.GetCertificate = tls.VersionTLS12, c.get
		}},
	})}, nil
}

// Server returns the server, an option of a manager.
func (w *Webhook) Server() webhook.Server { return w.server }

// Register adds the webhook to the manager that has its server.
func (w *Webhook) Register(m manager.Manager) error {
	w.certificate.api, w.certificate.kube = m.GetAPIReader(), m.GetClient()
	for name, handler := range Handlers(m.GetScheme(), m.GetClient()) {
		m.GetWebhookServer().Register("/"+name, handler) // the first call lets the manager run it
	}
	if err := m.Add(w.certificate); err != nil {
		return err
	}
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error { return w.publish(ctx, m.GetClient()) }))
}

// publishEvery is how often the configuration is applied: somebody may have changed or deleted it.
const publishEvery = 10 * time.Minute

// publish applies the configuration while this process is elected, once its server answers.
func (w *Webhook) publish(ctx context.Context, c kube.Client) error {
	for {
		wait := retryEvery
		if bundle := w.certificate.trusted(); len(bundle) > 0 && w.server.StartedChecker()(nil) == nil {
			wait = publishEvery
			if err := c.Apply(ctx, w.configuration(bundle), kube.FieldOwner(Name), kube.ForceOwnership); err != nil {
				if ctx.Err() == nil {
					w.options.Log.WarnContext(ctx, "the webhook is not configured; it will be", "error", err)
				}
				wait = retryEvery
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.certificate.renewed:
		case <-time.After(wait):
		}
	}
}

// configuration makes the API server ask about creations and updates. It admits both where no process answers in time: the controllers
// refuse the same by a condition, and a hub whose webhook is away has to stay usable.
func (w *Webhook) configuration(bundle []byte) *configuration.ValidatingWebhookConfigurationApplyConfiguration {
	list := make([]*configuration.ValidatingWebhookApplyConfiguration, len(kinds))
	for n, kind := range kinds {
		path := "/" + kind.resource.Resource
		client := configuration.WebhookClientConfig().WithCABundle(bundle...)
		if w.options.URL != "" {
			client.WithURL(strings.TrimSuffix(w.options.URL, "/") + path)
		} else {
			client.WithService(configuration.ServiceReference().
				WithNamespace(w.options.Service.Namespace).WithName(w.options.Service.Name).WithPath(path))
		}
		list[n] = configuration.ValidatingWebhook().
			WithName(kind.resource.Resource + ".slipway." + kind.resource.Group).
			WithClientConfig(client).
			WithRules(configuration.RuleWithOperations().
				WithOperations(v1.Create, v1.Update).
				WithAPIGroups(kind.resource.Group).WithAPIVersions(kind.resource.Version).WithResources(kind.resource.Resource)).
			WithFailurePolicy(v1.Ignore).
			WithSideEffects(v1.SideEffectClassNone).
			WithTimeoutSeconds(5).
			WithAdmissionReviewVersions("v1")
	}
	return configuration.ValidatingWebhookConfiguration(Name).WithWebhooks(list...)
}
