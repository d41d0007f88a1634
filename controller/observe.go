package controller

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// Where OpenShift publishes the certificates that signed the router's.
const (
	ingressNamespace = "openshift-config-managed"
	ingressConfigMap = "default-ingress-cert"
	ingressKey       = "ca-bundle.crt"
)

// observe reads both sides; found is the cluster as the service has it. With an error
// the state holds what does not come from the kube API. A cluster in error is not
// looked at: its API may be the reason.
func (c *controller) observe(ctx context.Context, found *wire.Cluster) (State, error) {
	s := State{
		Cluster: ClusterOf(found), CheckClusterVersion: c.CheckClusterVersion,
		LogsDue:      c.LogFile != "" && c.Now().Sub(c.logsSentAt) >= c.LogsInterval,
		LastLogsSent: c.lastLogsSent, Completed: c.completed,
	}
	if s.Cluster.Status == model.ClusterError {
		return s, nil
	}
	if err := c.observeKubelets(ctx, &s); err != nil {
		return s, err
	}
	_, err := c.kube.CoreV1().Events(c.Namespace).Get(ctx, ReadyEvent, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return s, fmt.Errorf("read event %s: %w", ReadyEvent, err)
	}
	s.Announced = err == nil
	c.observeParts(ctx, &s)
	if s.Cluster.Status == model.ClusterFinalizing {
		err = c.observeFinalizing(ctx, &s)
		return s, err
	}
	return s, nil
}

func (c *controller) observeKubelets(ctx context.Context, s *State) error {
	nodes, err := c.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	requests, err := c.kube.CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list certificate requests: %w", err)
	}
	s.Nodes, s.CSRs = nodes.Items, requests.Items
	return nil
}

// observeParts reads what only some clusters have. What cannot be read is missing in the state, so that the rest is
// done: nothing here decides about the end of the installation.
func (c *controller) observeParts(ctx context.Context, s *State) {
	s.CountReboots, s.RebootTries = c.NotifyReboots && c.Runner != nil, c.rebootTries
	var err error
	if s.Cluster.Platform == string(wire.PlatformTypeBaremetal) {
		s.Metal, err = c.observeMetal(ctx)
		c.note(ctx, "look at bare metal hosts", err)
	}
	s.WorkerPool, err = c.observePool(ctx, s.Cluster.Hosts)
	c.note(ctx, "look at the pool of workers", err)
	s.Fetched, err = c.observeFetches(ctx, s.Cluster.Hosts)
	c.note(ctx, "look at machine config servers", err)
	s.Services, err = c.observeServices(ctx, s.Cluster.ServiceNetworks)
	c.note(ctx, "look at services", err)
}

func (c *controller) observeFinalizing(ctx context.Context, s *State) error {
	var err error
	if s.Monitored, err = c.Service.MonitoredOperators(ctx, c.ClusterID); err != nil {
		return fmt.Errorf("list monitored operators: %w", err)
	}
	if s.Operators, err = c.observeOperators(ctx, s.Monitored); err != nil {
		return err
	}
	if err = c.observeRepairs(ctx, s); err != nil {
		return err
	}
	if err = c.observeSetup(ctx, s); err != nil {
		return err
	}
	if s.Cluster.Stage != model.FinalizingAddingRouterCA {
		return nil
	}
	published, err := c.kube.CoreV1().ConfigMaps(ingressNamespace).Get(ctx, ingressConfigMap, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("read the ingress certificate: %w", err)
	}
	if err == nil {
		s.IngressCA = published.Data[ingressKey]
	}
	return nil
}

// observeOperators reads the operators the service waits for; one that does not exist
// is missing in the result.
func (c *controller) observeOperators(ctx context.Context, monitored []wire.MonitoredOperator) (map[string]Operator, error) {
	found := make(map[string]Operator, len(monitored))
	for _, o := range monitored {
		state, err := c.observeOperator(ctx, o)
		if errors.Is(err, errNoOperator) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read operator %s: %w", o.Name, err)
		}
		found[o.Name] = state
	}
	return found, nil
}
