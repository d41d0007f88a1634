package controller

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The DNS of a cluster has the tenth address of the service network (openshift/cluster-dns-operator).
const (
	dnsNamespace         = "openshift-dns"
	dnsService           = "dns-default"
	dnsOperatorNamespace = "openshift-dns-operator"
)

// FreeDNSAddress deletes a service that got the address of the DNS before the DNS did, and restarts the operator
// that makes its service.
type FreeDNSAddress struct{ Namespace, Service string }

// missingDNS finds the service that holds the address. A service may get any free address, and some start before
// the DNS operator does.
func missingDNS(s State) []Action {
	if slices.ContainsFunc(s.Services, isDNS) {
		return nil
	}
	for _, network := range s.Cluster.ServiceNetworks {
		tenth := tenthAddress(network)
		for i := range s.Services {
			service := &s.Services[i]
			if slices.Contains(service.Spec.ClusterIPs, tenth.String()) || service.Spec.ClusterIP == tenth.String() {
				return []Action{FreeDNSAddress{Namespace: service.Namespace, Service: service.Name}}
			}
		}
	}
	return nil
}

// observeServices lists the services until the DNS has its own.
func (c *controller) observeServices(ctx context.Context, networks []netip.Prefix) ([]corev1.Service, error) {
	if c.dnsServed || len(networks) == 0 {
		return nil, nil
	}
	services, err := c.kube.CoreV1().Services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list services: %w", err)
	}
	c.dnsServed = slices.ContainsFunc(services.Items, isDNS)
	return services.Items, nil
}

func isDNS(s corev1.Service) bool { return s.Namespace == dnsNamespace && s.Name == dnsService }

func tenthAddress(network netip.Prefix) netip.Addr {
	address := network.Masked().Addr()
	for range 10 {
		address = address.Next()
	}
	return address
}

func (a FreeDNSAddress) do(ctx context.Context, c *controller) error {
	err := c.kube.CoreV1().Services(a.Namespace).Delete(ctx, a.Service, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete service %s/%s, which has the address of the DNS: %w", a.Namespace, a.Service, err)
	}
	err = c.kube.CoreV1().Pods(dnsOperatorNamespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("restart the DNS operator: %w", err)
	}
	c.Log.WarnContext(ctx, "service with the address of the DNS deleted", "namespace", a.Namespace, "service", a.Service)
	return nil
}
