package demo

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"slipway/internal/platform/hostexec"
	"slipway/internal/sim/kubeapi"
)

// claim names objects that the API of an installed cluster must hold.
type claim struct {
	what  string
	holds func(context.Context, *newCluster) error
}

// newCluster is the API of an installed cluster.
type newCluster struct {
	objects dynamic.Interface
	kube    kubernetes.Interface
}

// claimLimit is how long the cluster may take after it is installed: its controller frees bare metal hosts then.
const claimLimit = 10 * time.Minute

// prove looks into the API of the installed cluster.
func (c *installation) prove(ctx context.Context) error {
	config := kubeapi.Config(c.place.Address(), kubeapi.UserAdmin)
	var cluster newCluster
	var err error
	if cluster.objects, err = dynamic.NewForConfig(config); err != nil {
		return fmt.Errorf("make the client of cluster %s: %w", c.plan.Name, err)
	}
	if cluster.kube, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("make the client of cluster %s: %w", c.plan.Name, err)
	}
	claims := append([]claim{c.plan.nodes()}, c.plan.claims...)
	var held []string
	for _, claim := range claims {
		if err := cluster.await(ctx, claim); err != nil {
			return fmt.Errorf("cluster %s: require %s: %w", c.plan.Name, claim.what, err)
		}
		held = append(held, claim.what)
	}
	c.board.say("cluster %s holds: %s", c.plan.Name, strings.Join(held, "; "))
	return nil
}

func (n *newCluster) await(ctx context.Context, c claim) error {
	ctx, cancel := context.WithTimeout(ctx, claimLimit)
	defer cancel()
	for {
		err := c.holds(ctx, n)
		if err == nil {
			return nil
		}
		if serr := hostexec.Sleep(ctx, lookEvery); serr != nil {
			return errors.Join(err, serr)
		}
	}
}

// nodes claims that every host is a node that is ready and takes pods.
func (p *clusterPlan) nodes() claim {
	return claim{fmt.Sprintf("all nodes (%d), ready and without taints", len(p.hosts)), func(ctx context.Context, n *newCluster) error {
		list, err := n.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) != len(p.hosts) {
			return fmt.Errorf("found %d nodes", len(list.Items))
		}
		for _, node := range list.Items {
			ready := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
			})
			if !ready || len(node.Spec.Taints) > 0 {
				return fmt.Errorf("found node %s with the taints %v, ready %t", node.Name, node.Spec.Taints, ready)
			}
		}
		return nil
	}}
}

// eachNode claims something of every node.
func eachNode(what string, holds func(*corev1.Node) bool) claim {
	return claim{what, func(ctx context.Context, n *newCluster) error {
		list, err := n.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			if node := &list.Items[i]; !holds(node) {
				return fmt.Errorf("found node %s with labels %v, addresses %v and provider ID %q",
					node.Name, node.Labels, node.Status.Addresses, node.Spec.ProviderID)
			}
		}
		return nil
	}}
}

// addressesIn claims that the addresses of nodes are in a network.
func addressesIn(network string) claim {
	prefix := netip.MustParsePrefix(network)
	return eachNode("the addresses of nodes in "+network, func(node *corev1.Node) bool {
		return !slices.ContainsFunc(node.Status.Addresses, func(a corev1.NodeAddress) bool {
			address, err := netip.ParseAddr(a.Address)
			return a.Type == corev1.NodeInternalIP && (err != nil || !prefix.Contains(address))
		})
	})
}

// kindOf parses a kind of object as in URLs: group/version/resource, or version/resource.
func kindOf(path string) schema.GroupVersionResource {
	parts := strings.Split(path, "/")
	if len(parts) == 2 {
		parts = append([]string{""}, parts...)
	}
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}
}

// has claims an object; namespace is empty for objects of the cluster.
func has(kind, namespace, name string) claim {
	return claim{kindOf(kind).Resource + " " + name, func(ctx context.Context, n *newCluster) error {
		_, err := n.get(ctx, kind, namespace, name)
		return err
	}}
}

// hasField claims an object with a text, number or boolean in a field of it.
func hasField(kind, namespace, name, value string, field ...string) claim {
	what := fmt.Sprintf("%s %s with %s %s", kindOf(kind).Resource, name, field[len(field)-1], value)
	return claim{what, func(ctx context.Context, n *newCluster) error {
		object, err := n.get(ctx, kind, namespace, name)
		if err != nil {
			return err
		}
		found, _, err := unstructured.NestedFieldNoCopy(object.Object, field...)
		if err != nil {
			return err
		}
		if fmt.Sprint(found) != value {
			return fmt.Errorf("found %v", found)
		}
		return nil
	}}
}

func (n *newCluster) get(ctx context.Context, kind, namespace, name string) (*unstructured.Unstructured, error) {
	if namespace == "" {
		return n.objects.Resource(kindOf(kind)).Get(ctx, name, metav1.GetOptions{})
	}
	return n.objects.Resource(kindOf(kind)).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
}

// none claims that there is no object of a kind.
func none(kind string) claim {
	return claim{"no " + kindOf(kind).Resource, func(ctx context.Context, n *newCluster) error {
		list, err := n.objects.Resource(kindOf(kind)).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) > 0 {
			return fmt.Errorf("found %s and %d more", list.Items[0].GetName(), len(list.Items)-1)
		}
		return nil
	}}
}

// freeMetal claims that the bare metal operator may have every host, and that each has a Machine.
func freeMetal(count int) claim {
	return claim{fmt.Sprintf("bare metal hosts (%d) that are free and have Machines", count), func(ctx context.Context, n *newCluster) error {
		list, err := n.objects.Resource(kindOf("metal3.io/v1alpha1/baremetalhosts")).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) != count {
			return fmt.Errorf("found %d", len(list.Items))
		}
		for _, host := range list.Items {
			_, paused := host.GetAnnotations()["baremetalhost.metal3.io/paused"]
			machine, _, _ := unstructured.NestedString(host.Object, "spec", "consumerRef", "name")
			if paused || machine == "" {
				return fmt.Errorf("found %s paused %t, with the Machine %q", host.GetName(), paused, machine)
			}
		}
		return nil
	}}
}

// withoutMachines claims that nothing is left of the machines that a platform would make.
func withoutMachines() []claim {
	return []claim{
		none("machine.openshift.io/v1beta1/machines"), none("machine.openshift.io/v1beta1/machinesets"),
		none("machine.openshift.io/v1/controlplanemachinesets"),
	}
}
