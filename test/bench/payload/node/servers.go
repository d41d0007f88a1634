package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/payload/front"
	"slipway/test/bench/payload/kube"
	"slipway/test/bench/payload/mcs"
	"slipway/test/bench/payload/operators"
	"slipway/test/bench/payload/plan"
)

var machineConfigs = schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigs"}

func serveConfigs(ctx context.Context, a *app) error {
	log, err := a.containerLog("machine-config-server", "openshift-machine-config-operator")
	if err != nil {
		return err
	}
	server := mcs.Server{
		Plan: a.host.Plan, Keys: a.host.Keys, Bootstrap: a.host.Role == plan.Bootstrap,
		Objects: a.objects, Fetches: log, Log: a.log, Now: time.Now,
	}
	listen := func(port int) *http.Server {
		return &http.Server{
			Addr: fmt.Sprintf(":%d", port), Handler: server.Handler(), ReadHeaderTimeout: 30 * time.Second,
			TLSConfig:    &tls.Config{MinVersion: tls.VersionTLS12},
			TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, // no HTTP/2
		}
	}
	secure, open := listen(mcs.Port), listen(mcs.PlainPort)
	stop := context.AfterFunc(ctx, func() { _, _ = secure.Close(), open.Close() })
	defer stop()
	ended := make(chan error, 2)
	go func() {
		ended <- secure.ListenAndServeTLS(a.host.Keys.Cert(pki.ConfigServer), a.host.Keys.Key(pki.ConfigServer))
	}()
	go func() { ended <- open.ListenAndServe() }()
	return <-ended
}

// containerLog opens a log under the name that the kubelet would give a container's: each start has a new one.
func (a *app) containerLog(container, namespace string) (*os.File, error) {
	if err := os.MkdirAll(a.logs, 0o755); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%s_%s_%s-%d.log", container, a.host.Name, namespace, container, time.Now().UnixNano())
	return os.OpenFile(filepath.Join(a.logs, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// objects lists the manifests on the bootstrap host, the machine configs of the cluster on masters.
func (a *app) objects(ctx context.Context) ([]*unstructured.Unstructured, error) {
	if a.host.Role == plan.Bootstrap {
		return kube.Folder(filepath.Join(a.openShift, "manifests"), filepath.Join(a.openShift, "openshift"))
	}
	client, err := dynamic.NewForConfig(kube.Config(a.host.Plan.API(), a.host.Keys))
	if err != nil {
		return nil, err
	}
	list, err := client.Resource(machineConfigs).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list machine configs: %w", err)
	}
	found := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		found[i] = &list.Items[i]
	}
	return found, nil
}

// runFront gives this host the address of the service "kubernetes" and takes what comes
// to it, and what comes to the router.
func runFront(ctx context.Context, a *app) error {
	service, err := a.host.Plan.ServiceAddress()
	if err != nil {
		return err
	}
	address := fmt.Sprintf("%s/%d", service, service.BitLen())
	if output, err := exec.CommandContext(ctx, "ip", "address", "replace", address, "dev", "lo").CombinedOutput(); err != nil {
		return fmt.Errorf("add the address of the service network: %w: %s", err, output)
	}
	signer, err := a.host.Keys.Load(pki.RouterSigner)
	if err != nil {
		return err
	}
	pair, err := signer.Issue(pki.Subject{Name: "router", Hosts: []string{"*." + a.host.Plan.Apps()}}, time.Now())
	if err != nil {
		return err
	}
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":443")
	if err != nil {
		return err
	}
	routes := &routeTable{}
	go routes.follow(ctx, a)
	f := front.Front{
		Service: service, Certificate: certificate, Hosts: routes.hosts, Log: a.log,
		APIs: []string{"localhost:6443", net.JoinHostPort(a.host.Plan.InternalName(), "6443")},
	}
	err = f.Serve(ctx, listener)
	if err == nil && ctx.Err() == nil {
		err = errors.New("front ended")
	}
	return err
}

// routeTable holds the router's knowledge of the cluster's routes.
type routeTable struct {
	mu    sync.Mutex
	names []string
}

func (r *routeTable) hosts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.names
}

// follow keeps the table; what was known stays while the API does not answer.
func (r *routeTable) follow(ctx context.Context, a *app) {
	client, err := dynamic.NewForConfig(kube.Config(a.host.Plan.API(), a.host.Keys))
	if err != nil {
		a.log.Error("routes not followed", "error", err)
		return
	}
	for {
		names, err := operators.Hosts(ctx, client)
		if err == nil {
			r.mu.Lock()
			r.names = names
			r.mu.Unlock()
		}
		if sleep(ctx, 6*retry) != nil {
			return
		}
	}
}
