package kubeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"slipway/installer"
)

// answerLimit bounds what is read of one answer, in bytes.
const answerLimit = 32 << 20

// masterLabels mark the nodes of the control plane; releases use one, the other or both. Arbiters carry etcd too.
var masterLabels = []string{
	"node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/arbiter",
}

// Client talks to one API server; it is an installer.Kube.
type Client struct {
	server, token string
	http          *http.Client
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
			masters = append(masters, installer.Node{
				Name: n.Metadata.Name, Addresses: n.addresses(), Ready: n.ready(),
				Uninitialized: len(n.uninitialized()) > 0, MachineConfig: n.machineConfig(),
			})
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

// MachineConfigExists implements installer.Kube.
func (c *Client) MachineConfigExists(ctx context.Context, name string) (bool, error) {
	found, err := c.get(ctx, "/apis/machineconfiguration.openshift.io/v1/machineconfigs/"+url.PathEscape(name), nil)
	if err != nil {
		return false, fmt.Errorf("read machine config %s: %w", name, err)
	}
	return found, nil
}

// get reads a resource; false when there is none.
func (c *Client) get(ctx context.Context, path string, into any) (bool, error) {
	return c.call(ctx, http.MethodGet, path, nil, into)
}

// call sends a request, a JSON patch when there is a body; false when the resource does not exist.
func (c *Client) call(ctx context.Context, method, path string, body io.Reader, into any) (bool, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, body)
	if err != nil {
		return false, err
	}
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json-patch+json")
	}
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
