package controller

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/internal/model"
	"slipway/internal/platform/hostexec"
)

// rebootsLimit bounds how long a node is asked for its reboots: a pod is started on it. rebootsTries is how often: a
// node that just became ready does not always answer.
const (
	rebootsLimit = time.Minute
	rebootsTries = 5
)

// CountReboots reports how often the node of a host booted.
type CountReboots struct {
	Host Host
	Node string
}

// missingReboots counts for a host whose node is ready. One is enough for a round: it takes a while.
func missingReboots(s State) []Action {
	for _, h := range s.Cluster.Hosts {
		node := nodeOf(h, s)
		if s.CountReboots && h.Stage == model.StageDone && node != nil && ready(node) && s.RebootTries[node.Name] < rebootsTries {
			return []Action{CountReboots{Host: h, Node: node.Name}}
		}
	}
	return nil
}

func (a CountReboots) do(ctx context.Context, c *controller) error {
	c.rebootTries[a.Node]++
	// The event in the cluster keeps a controller that was restarted from reporting it again.
	mark := "reboots-of-" + a.Node
	_, err := c.kube.CoreV1().Events(c.Namespace).Get(ctx, mark, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		c.rebootTries[a.Node] = rebootsTries
		return err
	}
	count, err := c.reboots(ctx, a.Node)
	if err != nil {
		return fmt.Errorf("count the reboots of node %s: %w", a.Node, err)
	}
	c.rebootTries[a.Node] = rebootsTries
	host := a.Host
	err = c.send(ctx, notice{
		name: "reboots_for_node", host: &host,
		message: fmt.Sprintf("Node %s has been rebooted %d times before completing installation", a.Node, count),
		props:   map[string]any{"node_name": a.Node, "reboots": count},
	})
	if err != nil {
		return err
	}
	return c.createEvent(ctx, c.event(mark, "RebootsCounted", fmt.Sprintf("node %s booted %d times", a.Node, count)))
}

// reboots reads the boots that a node recorded. The first boot recorded is the installed system's.
func (c *controller) reboots(ctx context.Context, node string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, rebootsLimit)
	defer cancel()
	args := []string{"debug", "node/" + node, "--quiet"}
	// An image of the release: by default it is taken from an image stream or a public registry, which a site without a route to the
	// internet lacks.
	if images := gatherImages(c.MustGatherImages, nil); len(images) > 0 {
		args = append(args, "--image", images[0])
	}
	out, err := c.oc(ctx, append(args, "--", "chroot", "/host", "last", "reboot")...)
	if err != nil {
		return 0, err
	}
	count := 0
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "reboot ") {
			count++
		}
	}
	return count, nil
}

// oc runs the client of OpenShift, which the image of the Job contains, as the administrator.
func (c *controller) oc(ctx context.Context, args ...string) (string, error) {
	config, err := c.admin(ctx)
	if err != nil {
		return "", err
	}
	text, err := kubeconfigOf(config)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "slipway-admin-*")
	if err != nil {
		return "", fmt.Errorf("make a folder for the kubeconfig: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "kubeconfig")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", fmt.Errorf("write the kubeconfig: %w", err)
	}
	result, err := c.Runner.Run(ctx, hostexec.Cmd{Name: "oc", Args: append([]string{"--kubeconfig", file}, args...)})
	return result.Stdout, err
}
