package kubeapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"

	"slipway/installer"
	"slipway/internal/cluster/openshift"
)

// Annotations of the machine config daemon (openshift/machine-config-operator, pkg/daemon/constants).
const (
	currentConfig = "machineconfiguration.openshift.io/currentConfig"
	desiredConfig = "machineconfiguration.openshift.io/desiredConfig"
	configState   = "machineconfiguration.openshift.io/state"
)

// node is the part of a Node (core/v1) that is used here.
type node struct {
	Metadata struct {
		Name        string            `json:"name"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Taints []struct {
			Key string `json:"key"`
		} `json:"taints"`
	} `json:"spec"`
	Status struct {
		Addresses []struct {
			Type    string `json:"type"`
			Address string `json:"address"`
		} `json:"addresses"`
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

// Initialize implements installer.Kube.
func (c *Client) Initialize(ctx context.Context, name string) error {
	path := "/api/v1/nodes/" + name
	var n node
	found, err := c.get(ctx, path, &n)
	if err != nil {
		return fmt.Errorf("read node %s: %w", name, err)
	}
	if !found || len(n.uninitialized()) == 0 {
		return nil
	}
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
	}
	var patch []operation
	for _, at := range n.uninitialized() {
		taint := fmt.Sprintf("/spec/taints/%d", at)
		// Others change the taints too: the taint at this place must still be the taint that was read.
		patch = append(patch, operation{"test", taint + "/key", openshift.UninitializedTaint}, operation{"remove", taint, nil})
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	if _, err := c.call(ctx, http.MethodPatch, path, bytes.NewReader(body), nil); err != nil {
		return fmt.Errorf("remove the taint %s of node %s: %w", openshift.UninitializedTaint, name, err)
	}
	return nil
}

// uninitialized lists the places of that taint, the last one first: removing it moves none of the others.
func (n *node) uninitialized() []int {
	var places []int
	for at := len(n.Spec.Taints) - 1; at >= 0; at-- {
		if n.Spec.Taints[at].Key == openshift.UninitializedTaint {
			places = append(places, at)
		}
	}
	return places
}

func (n *node) machineConfig() installer.MachineConfig {
	all := n.Metadata.Annotations
	return installer.MachineConfig{Current: all[currentConfig], Desired: all[desiredConfig], State: all[configState]}
}

func (n *node) master() bool {
	for _, label := range masterLabels {
		if _, labelled := n.Metadata.Labels[label]; labelled {
			return true
		}
	}
	return false
}

func (n *node) ready() bool {
	for _, c := range n.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True"
		}
	}
	return false
}

func (n *node) addresses() []netip.Addr {
	var all []netip.Addr
	for _, a := range n.Status.Addresses {
		if address, err := netip.ParseAddr(a.Address); err == nil && a.Type == "InternalIP" {
			all = append(all, address)
		}
	}
	return all
}
