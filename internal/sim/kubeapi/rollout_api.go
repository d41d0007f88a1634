package kubeapi

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// startedAnnotation keeps on the ClusterVersion when the rollout began.
const startedAnnotation = "simulated.slipway/rollout-started-at"

var (
	clusterVersions  = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"}
	clusterOperators = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusteroperators"}
	controlPlaneSets = schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1", Resource: "controlplanemachinesets"}
	routes           = schema.GroupVersionResource{Group: "route.openshift.io", Version: "v1", Resource: "routes"}
)

type rollout struct {
	Rollout
	kube    kubernetes.Interface
	dynamic dynamic.Interface
}

// step brings the operators to where they should be now and reports whether all are available.
func (r *rollout) step(ctx context.Context) (bool, error) {
	began, err := r.began(ctx)
	if err != nil {
		return false, err
	}
	available := 0
	if !began.IsZero() {
		available = r.due(r.Now().Sub(began))
	}
	for i, name := range r.Operators {
		if err := r.report(ctx, clusterOperators, name, i < available, "Deploying "+name); err != nil {
			return false, err
		}
	}
	if available == len(r.Operators) {
		if err := r.openIngress(ctx); err != nil {
			return false, err
		}
	}
	waiting, err := r.waitForMachines(ctx)
	if err != nil {
		return false, err
	}
	done := available == len(r.Operators) && !waiting
	working := fmt.Sprintf("Working towards %s: %d of %d done (%d%% complete)",
		r.Version, available, len(r.Operators), 100*available/len(r.Operators))
	return done, r.report(ctx, clusterVersions, "version", done, working)
}

// waitForMachines plays the operator of control plane machine sets. Where there is such a set it counts the machines of
// the set that have become nodes, and is unavailable without them
// (openshift/cluster-control-plane-machine-set-operator, pkg/controllers/controlplanemachineset/status.go). A machine of
// placeholders never becomes a node.
func (r *rollout) waitForMachines(ctx context.Context) (bool, error) {
	sets, err := r.dynamic.Resource(controlPlaneSets).List(ctx, metav1.ListOptions{})
	if err != nil || len(sets.Items) == 0 {
		return false, err
	}
	message := fmt.Sprintf("missing %d available replica(s)", r.ControlPlane)
	return true, r.report(ctx, clusterOperators, "control-plane-machine-set", false, message)
}

// due returns how many operators are available this long after the rollout began.
func (r *rollout) due(elapsed time.Duration) int {
	if elapsed >= r.Duration {
		return len(r.Operators)
	}
	return int(int64(len(r.Operators)) * int64(elapsed) / int64(r.Duration))
}

// began returns when the rollout began, which is noted once enough masters are Ready; zero before.
func (r *rollout) began(ctx context.Context) (time.Time, error) {
	versions := r.dynamic.Resource(clusterVersions)
	version, err := versions.Get(ctx, "version", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		version, err = versions.Create(ctx, newObject(clusterVersions, "ClusterVersion", "version"), metav1.CreateOptions{})
	}
	if err != nil {
		return time.Time{}, err
	}
	if noted := version.GetAnnotations()[startedAnnotation]; noted != "" {
		return time.Parse(time.RFC3339Nano, noted)
	}
	if ready, err := r.mastersForPods(ctx); err != nil || ready < r.ControlPlane {
		return time.Time{}, err
	}
	now := r.Now().UTC()
	version.SetAnnotations(map[string]string{startedAnnotation: now.Format(time.RFC3339Nano)})
	_, err = versions.Update(ctx, version, metav1.UpdateOptions{})
	return now, err
}

// mastersForPods counts the masters that take pods.
func (r *rollout) mastersForPods(ctx context.Context) (int, error) {
	nodes, err := r.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "node-role.kubernetes.io/master"})
	if err != nil {
		return 0, err
	}
	ready := 0
	for i := range nodes.Items {
		if schedulable(&nodes.Items[i]) {
			ready++
		}
	}
	return ready, nil
}

// report writes the status of an operator or the version, unless it is unchanged.
func (r *rollout) report(ctx context.Context, gvr schema.GroupVersionResource, name string, available bool, working string) error {
	objects := r.dynamic.Resource(gvr)
	obj, err := objects.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		obj, err = objects.Create(ctx, newObject(gvr, "ClusterOperator", name), metav1.CreateOptions{})
	}
	if err != nil {
		return err
	}
	message := working
	if available {
		message = "Done applying " + r.Version
	}
	if said, _, _ := unstructured.NestedString(obj.Object, "status", "simulated"); said == message {
		return nil
	}
	obj.Object["status"] = r.status(available, message)
	_, err = objects.UpdateStatus(ctx, obj, metav1.UpdateOptions{})
	return err
}

func (r *rollout) status(available bool, message string) map[string]any {
	at := r.Now().UTC().Format(time.RFC3339)
	condition := func(kind string, is bool) any {
		status := "False"
		if is {
			status = "True"
		}
		return map[string]any{"type": kind, "status": status, "message": message, "lastTransitionTime": at}
	}
	return map[string]any{
		"conditions": []any{condition("Available", available), condition("Progressing", !available), condition("Degraded", false)},
		"versions":   []any{map[string]any{"name": "operator", "version": r.Version}},
		"desired":    map[string]any{"version": r.Version},
		"simulated":  message, // shows whether there is something new to write
	}
}

func newObject(gvr schema.GroupVersionResource, kind, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvr.GroupVersion().WithKind(kind))
	obj.SetName(name)
	return obj
}

// openIngress publishes the certificate of the ingress and the route of the console.
func (r *rollout) openIngress(ctx context.Context) error {
	route := newObject(routes, "Route", "console")
	route.Object["spec"] = map[string]any{"host": "console-openshift-console.apps." + r.Domain}
	_, err := r.dynamic.Resource(routes).Namespace("openshift-console").Create(ctx, route, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	maps := r.kube.CoreV1().ConfigMaps("openshift-config-managed")
	if _, err := maps.Get(ctx, "default-ingress-cert", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := selfSigned("ingress-operator@"+r.Domain, key, r.Now())
	if err != nil {
		return err
	}
	_, err = maps.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "default-ingress-cert"},
		Data:       map[string]string{"ca-bundle.crt": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))},
	}, metav1.CreateOptions{})
	return err
}
