package controller

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/sync/singleflight"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var proxies = openshiftConfig.WithResource("proxies")

const (
	// proxyAge is how long proxy settings are cached.
	proxyAge = 5 * time.Minute
	// proxyRetry is how long a failed read is remembered: requests do not wait for another one.
	proxyRetry = 30 * time.Second
)

// Proxy sends requests through the proxy of the new cluster, as its status says (openshift/api, config/v1, Proxy): pods
// do not inherit it. The environment counts until the cluster has answered, the last settings while it does not answer.
type Proxy struct {
	objects dynamic.Interface
	now     func() time.Time
	reading singleflight.Group

	mu    sync.Mutex
	until time.Time // then the settings are read again
	to    func(*url.URL) (*url.URL, error)
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

// For returns the proxy of a request, for http.Transport.
func (p *Proxy) For(r *http.Request) (*url.URL, error) {
	to, fresh := p.current()
	if !fresh {
		// One read serves all requests that wait for it; it does not end with the request that began it.
		_, _, _ = p.reading.Do("", func() (any, error) {
			if _, fresh := p.current(); !fresh {
				p.refresh(context.WithoutCancel(r.Context()))
			}
			return nil, nil
		})
		to, _ = p.current()
	}
	return to(r.URL)
}

// current returns the cached settings, and whether they are fresh.
func (p *Proxy) current() (to func(*url.URL) (*url.URL, error), fresh bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.to, p.now().Before(p.until)
}

// refresh reads the settings without the lock: a read takes up to kubeTimeout.
func (p *Proxy) refresh(ctx context.Context) {
	settings := p.settings(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if settings == nil {
		p.until = p.now().Add(proxyRetry)
		return
	}
	p.until, p.to = p.now().Add(proxyAge), settings.ProxyFunc()
}

// settings returns the cluster's proxy settings, or nil where they cannot be read.
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
