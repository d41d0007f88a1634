package spoke

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/api/kube/resource"
	"slipway/internal/platform/guard"
)

// callLimit bounds a call to a cluster: one that is away must not keep others waiting.
const callLimit = 10 * time.Second

// Reconciler approves the requests of hosts that join installed clusters, and removes nodes of hosts that left.
type Reconciler struct {
	resource.References

	// Outbound bounds where kubeconfigs lead.
	Outbound guard.Outbound
	Now      func() time.Time

	refused sync.Map // UIDs of requests whose refusal was said
}

// Register adds the controller to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).For(&agentinstall.Agent{}, builder.WithPredicates(due)).Named("spoke").Complete(r)
}

// due passes an Agent when its host begins to be expected, or may have left its node, and every one at the start.
var due = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, isAgent := e.ObjectOld.(*agentinstall.Agent)
		after, stillAgent := e.ObjectNew.(*agentinstall.Agent)
		if !isAgent || !stillAgent {
			return false
		}
		if after.Status.DeprovisionInfo != nil {
			return before.Status.DebugInfo.State != after.Status.DebugInfo.State || resource.ChangedByOthers(e) ||
				before.KeepsNode() != after.KeepsNode()
		}
		was, _ := Expected(before)
		is, expected := Expected(after)
		return expected && (!was.Equal(is) || before.ResourceVersion == after.ResourceVersion) // the second is a resync
	},
	DeleteFunc: func(event.DeleteEvent) bool { return false },
}

// Reconcile looks at the cluster of a host that is expected, and approves what its kubelet asks for.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	a := &agentinstall.Agent{}
	if err := r.Kube.Get(ctx, request.NamespacedName, a); err != nil {
		return reconcile.Result{}, kube.IgnoreNotFound(err)
	}
	in := Inputs{Agent: a}
	switch {
	case resource.Paused(a), !a.DeletionTimestamp.IsZero():
		return reconcile.Result{}, nil
	case a.Status.DeprovisionInfo != nil:
		return r.remove(ctx, a)
	case Next(in, r.Now()) == 0:
		return reconcile.Result{}, nil
	}
	if err := r.approve(ctx, &in); err != nil {
		// The cluster may be away, or have another credential: it is asked again, without an error for each look.
		log.FromContext(ctx).Info("cannot look at the cluster of a host", "error", err.Error())
	}
	return reconcile.Result{RequeueAfter: Next(in, r.Now())}, nil
}

func (r *Reconciler) approve(ctx context.Context, in *Inputs) error {
	ref := in.Agent.Spec.ClusterDeploymentName
	key := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	deployment, err := r.deployment(ctx, key)
	if err != nil {
		return err
	}
	if deployment == nil {
		return &resource.MissingDeploymentError{Key: key}
	}
	cluster, err := r.connect(ctx, deployment)
	if err != nil {
		return err
	}
	defer cluster.close()
	in.VIPs = cluster.vips
	in.Others = slices.DeleteFunc(cluster.agents, func(a agentinstall.Agent) bool { return a.UID == in.Agent.UID })
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	if err := read(ctx, cluster, in); err != nil {
		return err
	}
	var approved []Verdict
	var failed error
	for _, v := range Evaluate(*in) {
		if v.Refusal != nil {
			r.announceRefusal(in.Agent, v)
			continue
		}
		if err := approve(ctx, cluster, v.Request); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		r.Events.Eventf(in.Agent, nil, corev1.EventTypeNormal, "CertificateApproved", "Join", "%s certificate request %s of node %s",
			v.Type, v.Request.Name, in.Agent.NodeName())
		approved = append(approved, v)
	}
	if len(approved) == 0 {
		return failed
	}
	before := in.Agent.DeepCopy()
	note(in.Agent, approved, metav1.NewTime(r.Now()))
	return errors.Join(failed, r.Kube.Status().Patch(ctx, in.Agent, kube.MergeFrom(before)))
}

// announceRefusal says once why a request stays pending.
func (r *Reconciler) announceRefusal(a *agentinstall.Agent, v Verdict) {
	if _, said := r.refused.LoadOrStore(v.Request.UID, true); !said {
		r.Events.Eventf(a, nil, corev1.EventTypeWarning, "CertificateRefused", "Join", "%s certificate request %s: %v",
			v.Type, v.Request.Name, v.Refusal)
	}
}

// site is an installed cluster, as the hub knows it.
type site struct {
	kubernetes.Interface

	http *http.Client
	// agents are bound to it, vips its virtual addresses.
	agents []agentinstall.Agent
	vips   []string
}

// deployment returns a ClusterDeployment, nil: it does not exist.
func (r *Reconciler) deployment(ctx context.Context, key types.NamespacedName) (*hive.ClusterDeployment, error) {
	found := &hive.ClusterDeployment{}
	err := r.Kube.Get(ctx, key, found)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read ClusterDeployment %s: %w", key, err)
	}
	return found, nil
}

// connect reads the resources of a cluster and returns a client with its administrator's kubeconfig.
func (r *Reconciler) connect(ctx context.Context, deployment *hive.ClusterDeployment) (*site, error) {
	key, install := kube.ObjectKeyFromObject(deployment), &hiveext.AgentClusterInstall{}
	if deployment.Spec.ClusterInstallRef == nil {
		return nil, fmt.Errorf("require spec.clusterInstallRef of ClusterDeployment %s, found none", key)
	}
	installKey := types.NamespacedName{Namespace: key.Namespace, Name: deployment.Spec.ClusterInstallRef.Name}
	if err := r.Kube.Get(ctx, installKey, install); err != nil {
		return nil, fmt.Errorf("read AgentClusterInstall %s: %w", installKey, err)
	}
	if install.Spec.ClusterMetadata == nil {
		return nil, fmt.Errorf("require spec.clusterMetadata of AgentClusterInstall %s, found none", installKey)
	}
	found := &site{vips: slices.Concat(install.Status.APIVIPs, install.Status.IngressVIPs)}
	var agents agentinstall.AgentList
	if err := r.Kube.List(ctx, &agents); err != nil {
		return nil, fmt.Errorf("list Agents: %w", err)
	}
	for n := range agents.Items {
		if agents.Items[n].Spec.ClusterDeploymentName.Is(key) {
			found.agents = append(found.agents, agents.Items[n])
		}
	}
	name := types.NamespacedName{Namespace: key.Namespace, Name: install.Spec.ClusterMetadata.AdminKubeconfigSecretRef.Name}
	secret, err := r.Secret(ctx, name)
	if err != nil {
		return nil, err
	}
	config, err := Access(secret.Data["kubeconfig"], r.Outbound)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig in Secret %s: %w", name, err)
	}
	config.Timeout, config.UserAgent = callLimit, "slipway-kube"
	if found.http, err = rest.HTTPClientFor(config); err != nil {
		return nil, fmt.Errorf("read the kubeconfig in Secret %s: %w", name, err)
	}
	found.Interface, err = kubernetes.NewForConfigAndClient(config, found.http)
	return found, err
}

// close ends the connections, which no later look at the cluster uses.
func (s *site) close() { s.http.CloseIdleConnections() }

// node reads a node, nil: the cluster has none.
func (s *site) node(ctx context.Context, name string) (*corev1.Node, error) {
	node, err := s.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read node %s: %w", name, err)
	}
	return node, nil
}

// read reads node and requests of a cluster.
func read(ctx context.Context, cluster *site, in *Inputs) error {
	var err error
	if in.Node, err = cluster.node(ctx, in.Agent.NodeName()); err != nil {
		return err
	}
	requests, err := cluster.CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list certificate requests: %w", err)
	}
	in.Requests = requests.Items
	return nil
}

func approve(ctx context.Context, cluster kubernetes.Interface, csr *certv1.CertificateSigningRequest) error {
	csr.Status.Conditions = append(csr.Status.Conditions, certv1.CertificateSigningRequestCondition{
		Type: certv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "SlipwayKube",
		Message: "the kubelet of a host that Slipway installed",
	})
	if _, err := cluster.CertificatesV1().CertificateSigningRequests().UpdateApproval(ctx, csr.Name, csr, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("approve certificate request %s: %w", csr.Name, err)
	}
	return nil
}
