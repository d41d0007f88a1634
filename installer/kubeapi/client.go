package kubeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"

	"slipway/installer"
)

// answerLimit bounds what is read of one answer, in bytes.
const answerLimit = 32 << 20

// masterLabels mark the nodes of the control plane; releases use one, the other or both.
var masterLabels = []string{"node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"}

// Client reads from one API server; it is an installer.Kube.
type Client struct {
	server, token string
	http          *http.Client
}

// node is the part of a Node (core/v1) that is used here.
type node struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
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

// Masters implements installer.Kube.
func (c *Client) Masters(ctx context.Context) ([]installer.Node, error) {
	var list struct {
		Items []node `json:"items"`
	}
	if _, err := c.get(ctx, "/api/v1/nodes", &list); err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	var masters []installer.Node
	for _, n := range list.Items {
		if n.master() {
			masters = append(masters, installer.Node{Name: n.Metadata.Name, Addresses: n.addresses(), Ready: n.ready()})
		}
	}
	return masters, nil
}

// EventExists implements installer.Kube.
func (c *Client) EventExists(ctx context.Context, namespace, name string) (bool, error) {
	found, err := c.get(ctx, "/api/v1/namespaces/"+namespace+"/events/"+name, nil)
	if err != nil {
		return false, fmt.Errorf("read event %s: %w", name, err)
	}
	return found, nil
}

// get reads a resource; false when there is none.
func (c *Client) get(ctx context.Context, path string, into any) (bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server+path, nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("Accept", "application/json")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound:
		return false, nil
	case response.StatusCode != http.StatusOK:
		return false, fmt.Errorf("the API answered %s", response.Status)
	case into == nil:
		return true, nil
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, answerLimit)).Decode(into); err != nil {
		return false, err
	}
	return true, nil
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
