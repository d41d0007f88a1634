package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/platform/hostexec"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/sim/site"
)

// discoveryEntry: a reclaimed machine starts this entry next, instead of its disk.
const discoveryEntry = "/boot/loader/entries/00-assisted-discovery.conf"

// dayTwoConfig returns the address of the configuration that a machine fetches to join an existing cluster; empty for a machine of a new
// cluster.
func dayTwoConfig(content *DiskContent) (string, error) {
	config, err := document.Parse(content.Ignition)
	if err != nil {
		return "", fmt.Errorf("read the Ignition on the disk: %w", err)
	}
	address := ""
	err = config.Sources(func(source string) string {
		if u, err := url.Parse(source); err == nil && u.Port() == configPort {
			address = source
		}
		return source
	})
	return address, err
}

// fetchConfig plays Ignition on the first boot of a machine that joins an existing cluster: it asks until it has its configuration.
func (m *Machine) fetchConfig(ctx context.Context, address string) error {
	for {
		err := m.getConfig(ctx, address)
		if err == nil {
			return nil
		}
		m.log.Warn("node configuration not fetched", "address", address, "error", err)
		if err := m.clock.Pause(ctx, look); err != nil {
			return err
		}
	}
}

func (m *Machine) getConfig(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: elsewhere{m}}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return errors.Join(err, fmt.Errorf("require status 200, found %s", response.Status))
	}
	return document.Check(content)
}

// takeBack runs the agent on the installed system once the site takes its machines back,
// as a pod in the cluster would.
func (m *Machine) takeBack(ctx context.Context) error {
	for !m.options.Site.TakesBack() {
		if err := m.clock.Pause(ctx, look); err != nil {
			return err
		}
	}
	m.runAgent(ctx, true)
	return ctx.Err()
}

// reclaimed says that the discovery image was put beside the system that ran last.
func (m *Machine) reclaimed() (bool, error) {
	_, err := os.Stat(m.options.root().Path(discoveryEntry))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// AwaitNodes waits until machines are ready nodes of the cluster of a site, by their names.
func AwaitNodes(ctx context.Context, place *site.Site, every time.Duration, names ...string) error {
	for {
		ready, err := readyNodes(ctx, place)
		missing := ""
		for _, name := range names {
			if !ready[name] {
				missing = name
			}
		}
		if err == nil && missing == "" {
			return nil
		}
		if serr := hostexec.Sleep(ctx, every); serr != nil {
			return errors.Join(fmt.Errorf("wait for node %s: %w", missing, serr), err)
		}
	}
}

func readyNodes(ctx context.Context, place *site.Site) (map[string]bool, error) {
	api := place.Address()
	if api == "" {
		return nil, errors.New("the API of the cluster does not answer")
	}
	kube, err := kubernetes.NewForConfig(kubeapi.Config(api, kubeapi.UserAdmin))
	if err != nil {
		return nil, fmt.Errorf("make the client of the cluster: %w", err)
	}
	list, err := kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	ready := map[string]bool{}
	for _, node := range list.Items {
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				ready[node.Name] = true
			}
		}
	}
	return ready, nil
}
