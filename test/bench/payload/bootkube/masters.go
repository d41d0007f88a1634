package bootkube

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"slipway/test/bench/payload/etcd"
	"slipway/test/bench/payload/kube"
	"slipway/test/bench/payload/programs"
)

// enough masters carry a cluster while this host becomes one.
const enough = 2

// carriers are masters whose API server and member of etcd have answered. What cluster-bootstrap waits for is a fact that
// stays, too: two nodes on which an installer has once put a revision of each part of the control plane
// (openshift/cluster-bootstrap, pkg/start/ha_checker.go: nodeStatuses with currentRevision >= 1).
type carriers map[string]bool

// carried returns why the masters do not carry the cluster yet: enough of them must be ready nodes with an API server
// and a member of etcd that votes.
func (b *Bootkube) carried(ctx context.Context, client kubernetes.Interface, answered carriers) error {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "node-role.kubernetes.io/master"})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	members, err := b.Etcd.Members(ctx, b.Host.Endpoint(programs.EtcdClientPort))
	if err != nil {
		return err
	}
	found := 0
	var missing []string
	for i := range nodes.Items {
		if err := b.carries(ctx, &nodes.Items[i], members, answered); err != nil {
			missing = append(missing, nodes.Items[i].Name+": "+err.Error())
			continue
		}
		found++
	}
	if need := min(b.Host.Plan.ControlPlane-1, enough); found < need {
		return fmt.Errorf("require %d masters, found %d (%s)", need, found, strings.Join(missing, "; "))
	}
	return nil
}

func (b *Bootkube) carries(ctx context.Context, node *corev1.Node, members []etcd.Member, answered carriers) error {
	if !Ready(node) {
		return fmt.Errorf("the node is not ready")
	}
	n := slices.IndexFunc(members, func(m etcd.Member) bool { return m.Name == node.Name && m.Votes() && len(m.Clients) > 0 })
	if n < 0 {
		return fmt.Errorf("its etcd does not vote")
	}
	if answered[node.Name] {
		return nil
	}
	if err := b.Etcd.Healthy(ctx, members[n].Clients[0]); err != nil {
		return err
	}
	api, err := APIOf(node)
	if err != nil {
		return err
	}
	if err := kube.Answers(ctx, kube.Config(api, b.Host.Keys), "/readyz"); err != nil {
		return err
	}
	answered[node.Name] = true
	return nil
}

// releaseLease lets another controller manager lead at once: the manager that was stopped here would hold its lease for two minutes more.
func releaseLease(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	err = client.CoordinationV1().Leases("kube-system").Delete(ctx, "kube-controller-manager", metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Ready says whether a node is.
func Ready(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// APIOf returns the URL of the API server on a node.
func APIOf(node *corev1.Node) (string, error) {
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return programs.URL(a.Address, programs.APIPort), nil
		}
	}
	return "", fmt.Errorf("require an address of node %s, found none", node.Name)
}
