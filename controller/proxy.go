package controller

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var proxies = openshiftConfig.WithResource("proxies")

// proxyAge is how long the settings of the cluster count.
const proxyAge = 5 * time.Minute

// Proxy sends requests through the proxy of the new cluster, as its status says (openshift/api, config/v1, Proxy): a
// pod gets no settings of it by itself. While the cluster does not answer, the environment counts.
type Proxy struct {
	objects dynamic.Interface
	now     func() time.Time

	mu   sync.Mutex
	read time.Time
	to   func(*url.URL) (*url.URL, error)
}

// NewProxy reads settings with the given client configuration, which itself uses no proxy.
func NewProxy(kube *rest.Config, now func() time.Time) (*Proxy, error) {
	config := rest.CopyConfig(kube)
	config.Timeout = kubeTimeout
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Proxy{objects: objects, now: now, to: httpproxy.FromEnvironment().ProxyFunc()}, nil
}

// For is the proxy of a request, for http.Transport.
func (p *Proxy) For(r *http.Request) (*url.URL, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.read.IsZero() || p.now().Sub(p.read) > proxyAge {
		if settings := p.settings(r.Context()); settings != nil {
			p.read, p.to = p.now(), settings.ProxyFunc()
		}
	}
	return p.to(r.URL)
}

// settings are those of the cluster; nil where they cannot be read.
func (p *Proxy) settings(ctx context.Context) *httpproxy.Config {
	found, err := p.objects.Resource(proxies).Get(ctx, "cluster", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return &httpproxy.Config{}
	}
	if err != nil {
		return nil
	}
	text := func(field string) string {
		value, _, _ := unstructured.NestedString(found.Object, "status", field)
		return value
	}
	return &httpproxy.Config{HTTPProxy: text("httpProxy"), HTTPSProxy: text("httpsProxy"), NoProxy: text("noProxy")}
}
