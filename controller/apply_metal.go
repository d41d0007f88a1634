package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"slipway/internal/wire"
)

// machineNamespace holds the Machines and BareMetalHosts of OpenShift.
const machineNamespace = "openshift-machine-api"

var (
	metal3          = schema.GroupVersion{Group: "metal3.io", Version: "v1alpha1"}
	bareMetalHosts  = metal3.WithResource("baremetalhosts")
	provisionings   = metal3.WithResource("provisionings")
	clusterMachines = schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machines"}
)

// observeMetal reads the hosts of the platform baremetal; nil where the cluster has no such kinds, or not yet.
func (c *controller) observeMetal(ctx context.Context) (*Metal, error) {
	configured, err := c.listed(ctx, provisionings, "")
	if err != nil {
		return nil, err
	}
	hosts, err := c.listed(ctx, bareMetalHosts, machineNamespace)
	if err != nil || len(hosts) == 0 {
		return nil, err
	}
	machines, err := c.listed(ctx, clusterMachines, machineNamespace)
	if err != nil {
		return nil, err
	}
	return &Metal{Provisioned: len(configured) > 0, Hosts: hosts, Machines: machines}, nil
}

// metalTime is how long the Machines of workers may come after the cluster is installed.
const metalTime = 30 * time.Minute

// freesHosts frees bare metal hosts of an installed cluster. It reports whether some are left: the MachineSet of
// workers may make its Machines after everything else is done.
func (c *controller) freesHosts(ctx context.Context, found *wire.Cluster) bool {
	if found.Platform.Type != wire.PlatformTypeBaremetal {
		return false
	}
	if c.installedAt.IsZero() {
		c.installedAt = c.Now()
	}
	if c.Now().Sub(c.installedAt) > metalTime {
		c.Log.WarnContext(ctx, "bare metal hosts left without Machines", "after", metalTime)
		return false
	}
	metal, err := c.observeMetal(ctx)
	if err != nil || metal == nil {
		c.note(ctx, "read bare metal hosts", err)
		return err != nil
	}
	actions := missingMetal(State{Metal: metal})
	for _, a := range actions {
		c.note(ctx, fmt.Sprintf("%T", a), a.do(ctx, c))
	}
	return len(actions) > 0 || slices.ContainsFunc(metal.Hosts, func(h unstructured.Unstructured) bool { return !hasConsumer(&h) })
}

// listed lists the objects of a resource; none where the cluster does not have the kind.
func (c *controller) listed(ctx context.Context, gvr schema.GroupVersionResource, namespace string) ([]unstructured.Unstructured, error) {
	list, err := c.dynamic.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", gvr.Resource, err)
	}
	return list.Items, nil
}

func (a UpdateBareMetalHost) do(ctx context.Context, c *controller) error {
	_, err := c.dynamic.Resource(bareMetalHosts).Namespace(a.Object.GetNamespace()).Update(ctx, a.Object, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return nil // the bare metal operator wrote it meanwhile: the next round reads it again
	}
	if err != nil {
		return fmt.Errorf("free bare metal host %s: %w", a.Object.GetName(), err)
	}
	c.Log.InfoContext(ctx, "bare metal host freed", "host", a.Object.GetName())
	return nil
}

func (a SetHardware) do(ctx context.Context, c *controller) error {
	var status map[string]any
	if err := json.Unmarshal([]byte(a.Status), &status); err != nil {
		return fmt.Errorf("read the hardware of bare metal host %s: %w", a.Host.GetName(), err)
	}
	status["lastUpdated"] = c.Now().UTC().Format(time.RFC3339)
	host := a.Host.DeepCopy()
	host.Object["status"] = status
	_, err := c.dynamic.Resource(bareMetalHosts).Namespace(host.GetNamespace()).UpdateStatus(ctx, host, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("set the hardware of bare metal host %s: %w", host.GetName(), err)
	}
	c.Log.InfoContext(ctx, "hardware of a bare metal host set", "host", host.GetName())
	return nil
}

// The key at that place is tested first: other taints come and go.
func (a RemoveTaint) do(ctx context.Context, c *controller) error {
	at := fmt.Sprintf("/spec/taints/%d", a.Index)
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": at + "/key", "value": a.Taint.Key},
		{"op": "remove", "path": at},
	})
	if err != nil {
		return fmt.Errorf("write the patch of node %s: %w", a.Node, err)
	}
	if _, err := c.kube.CoreV1().Nodes().Patch(ctx, a.Node, types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("remove taint %s of node %s: %w", a.Taint.Key, a.Node, err)
	}
	c.Log.InfoContext(ctx, "taint removed", "node", a.Node, "taint", a.Taint.Key)
	return nil
}
