package operators

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/payload/kube"
	"slipway/test/bench/payload/plan"
)

// Routes is the kind that the router serves.
var Routes = schema.GroupVersionResource{Group: "route.openshift.io", Version: "v1", Resource: "routes"}

const consoleSpace = "openshift-console"

func consoleHost(c *plan.Cluster) string { return "console-openshift-console." + c.Apps() }

// publishRoutes makes the route of the console.
func (o *Operators) publishRoutes(ctx context.Context) error {
	if err := o.namespace(ctx, consoleSpace); err != nil {
		return err
	}
	route := kube.Object("route.openshift.io/v1", "Route", consoleSpace, "console", map[string]any{"spec": map[string]any{
		"host": consoleHost(o.Host.Plan), "to": map[string]any{"kind": "Service", "name": "console", "weight": int64(100)},
		"tls": map[string]any{"termination": "reencrypt"}, "wildcardPolicy": "None",
	}})
	_, err := o.dynamic.Resource(Routes).Namespace(consoleSpace).Create(ctx, route, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the route of the console: %w", err)
	}
	return nil
}

// publishAuthority publishes who signed the router's certificate, where OpenShift does.
func (o *Operators) publishAuthority(ctx context.Context) error {
	const space = "openshift-config-managed"
	if err := o.namespace(ctx, space); err != nil {
		return err
	}
	authority, err := os.ReadFile(o.Host.Keys.Cert(pki.RouterSigner))
	if err != nil {
		return err
	}
	_, err = o.kube.CoreV1().ConfigMaps(space).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "default-ingress-cert"},
		Data:       map[string]string{"ca-bundle.crt": string(authority)},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("publish the authority of the router: %w", err)
	}
	return nil
}

func (o *Operators) namespace(ctx context.Context, name string) error {
	_, err := o.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make namespace %s: %w", name, err)
	}
	return nil
}

// Hosts lists the names that routes have.
func Hosts(ctx context.Context, objects dynamic.Interface) ([]string, error) {
	list, err := objects.Resource(Routes).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	var hosts []string
	for i := range list.Items {
		if host, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "host"); host != "" {
			hosts = append(hosts, host)
		}
	}
	return hosts, nil
}
