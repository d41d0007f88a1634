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

// Master is a master that carries the cluster.
type Master struct {
	Name     string
	API      string // URL
	Endpoint string // of its etcd
}

// carrying are the masters that are ready nodes with an API server and a member of etcd
// that votes; an error when they are not enough.
func (b *Bootkube) carrying(ctx context.Context, client kubernetes.Interface) ([]Master, error) {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "node-role.kubernetes.io/master"})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	members, err := b.Etcd.Members(ctx, b.Host.Endpoint(programs.EtcdClientPort))
	if err != nil {
		return nil, err
	}
	var found []Master
	var missing []string
	for i := range nodes.Items {
		master, err := b.carries(ctx, &nodes.Items[i], members)
		if err != nil {
			missing = append(missing, nodes.Items[i].Name+": "+err.Error())
			continue
		}
		found = append(found, master)
	}
	if need := min(b.Host.Plan.ControlPlane-1, enough); len(found) < need {
		return nil, fmt.Errorf("require %d masters, found %d (%s)", need, len(found), strings.Join(missing, "; "))
	}
	return found, nil
}

func (b *Bootkube) carries(ctx context.Context, node *corev1.Node, members []etcd.Member) (Master, error) {
	if !Ready(node) {
		return Master{}, fmt.Errorf("the node is not ready")
	}
	n := slices.IndexFunc(members, func(m etcd.Member) bool { return m.Name == node.Name && m.Votes() && len(m.Clients) > 0 })
	if n < 0 {
		return Master{}, fmt.Errorf("its etcd does not vote")
	}
	if err := b.Etcd.Healthy(ctx, members[n].Clients[0]); err != nil {
		return Master{}, err
	}
	api, err := APIOf(node)
	if err != nil {
		return Master{}, err
	}
	if err := kube.Answers(ctx, kube.Config(api, b.Host.Keys), "/readyz"); err != nil {
		return Master{}, err
	}
	return Master{Name: node.Name, API: api, Endpoint: members[n].Clients[0]}, nil
}

// leave takes this host's member out of etcd, by way of another.
func (b *Bootkube) leave(ctx context.Context, masters []Master) error {
	var last error
	for _, m := range masters {
		members, err := b.Etcd.Members(ctx, m.Endpoint)
		if err != nil {
			last = err
			continue
		}
		n := slices.IndexFunc(members, func(x etcd.Member) bool { return x.Name == b.Host.EtcdName() })
		if n < 0 {
			return nil
		}
		if last = b.Etcd.Remove(ctx, m.Endpoint, members[n].ID); last == nil {
			return nil
		}
	}
	return last
}

// left says whether this host's member has left etcd already: what the others say.
func (b *Bootkube) left(ctx context.Context) bool {
	members, err := b.Etcd.Members(ctx, programs.URL(b.Host.Plan.InternalName(), programs.EtcdClientPort))
	return err == nil && len(members) > 0 &&
		!slices.ContainsFunc(members, func(m etcd.Member) bool { return m.Name == b.Host.EtcdName() })
}

// releaseLease lets another controller manager lead at once: the one that was stopped
// here would hold its lease for two minutes more.
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

// APIOf is the URL of the API server on a node.
func APIOf(node *corev1.Node) (string, error) {
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return programs.URL(a.Address, programs.APIPort), nil
		}
	}
	return "", fmt.Errorf("require an address of node %s, found none", node.Name)
}
