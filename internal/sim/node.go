package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"strings"

	"k8s.io/client-go/kubernetes"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
	"slipway/internal/sim/kubeapi"
)

// identity names a machine in its cluster.
type identity struct {
	name string
	role model.Role
	// hint is an address of the network that the node takes its address from; the zero value without one.
	hint netip.Addr
}

// goArchitecture maps an architecture of the kernel to Go's name.
func goArchitecture(machine string) string {
	return map[string]string{"x86_64": "amd64", "aarch64": "arm64"}[machine]
}

// readIdentity reads from what was written to the disk who the machine is: its name from
// the Ignition, its role from the config it points to or, on a single node, from the
// file coreos-installer was given.
func readIdentity(content *DiskContent, fallback string) (identity, error) {
	who := identity{name: fallback, role: model.RoleMaster}
	config, err := document.Parse(content.Ignition)
	if err != nil {
		return who, fmt.Errorf("read the Ignition on the disk: %w", err)
	}
	if strings.HasPrefix(content.Source, string(model.RoleWorker)) {
		who.role = model.RoleWorker
	}
	err = config.Sources(func(source string) string {
		if pool := model.Role(path.Base(source)); pool == model.RoleWorker || pool == model.RoleMaster || pool == model.RoleArbiter {
			who.role = pool
		}
		return source
	})
	if err != nil {
		return who, fmt.Errorf("read the Ignition on the disk: %w", err)
	}
	name, err := textOf(config, "/etc/hostname")
	if err != nil {
		return who, err
	}
	who.name = cmp.Or(strings.TrimSpace(name), fallback)
	// nodeip-configuration.service reads it (openshift/machine-config-operator, templates/common/_base/units).
	hint, err := textOf(config, "/etc/default/nodeip-configuration")
	if text := variable(hint, "KUBELET_NODEIP_HINT"); text != "" && err == nil {
		who.hint, err = netip.ParseAddr(text)
	}
	return who, err
}

// textOf returns the content of a file; empty without the file.
func textOf(config *document.Document, path string) (string, error) {
	file, err := config.File(path)
	if errors.Is(err, model.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	content, err := file.Content()
	if err != nil {
		return "", fmt.Errorf("read %s in the Ignition on the disk: %w", path, err)
	}
	return string(content), nil
}

// runDisk runs a boot from the disk: Ignition on the first one, then the kubelet.
func (m *Machine) runDisk(ctx context.Context) error {
	content, err := m.bootDisk()
	if err != nil {
		return err
	}
	if content == nil {
		return errors.New("the disk does not boot any more")
	}
	who, err := readIdentity(content, m.options.Spec.Hostname)
	if err != nil {
		return err
	}
	if err := m.booted(ctx); err != nil {
		return err
	}
	config, err := dayTwoConfig(content)
	if err != nil {
		return err
	}
	if err := m.answerAgain(); err != nil {
		return err
	}
	if m.State().Applied != content.ID {
		return m.firstBoot(ctx, first{content: content.ID, config: config, role: who.role})
	}
	if err := m.join(ctx, who, config != ""); err != nil {
		return err
	}
	return m.takeBack(ctx)
}

// answerAgain: the API of a single node runs from its disk.
func (m *Machine) answerAgain() error {
	cluster, err := m.options.Site.Cluster()
	if err != nil || cluster.ControlPlane != 1 || !m.options.Site.Away() {
		return err
	}
	life, err := m.options.Site.Started()
	if err != nil {
		return err
	}
	return m.options.Site.HandOver(life)
}

// first describes a first boot.
type first struct {
	content string // id of what was written to the disk
	config  string // address asked by a machine that joins an existing cluster
	role    model.Role
}

// firstBoot plays Ignition, which asks the machine config server of the cluster, and
// machine-config-daemon-firstboot, which changes the operating system to the release's and boots once more:
// the image that was written is older than nearly every release (openshift/machine-config-operator,
// templates/common/_base/units).
func (m *Machine) firstBoot(ctx context.Context, f first) error {
	if m.State().FetchedAt.IsZero() {
		if err := m.fetchIgnition(ctx, f); err != nil {
			return err
		}
		if err := m.memory.update(func(s *State) { s.FetchedAt = m.options.Now() }); err != nil {
			return err
		}
	}
	if err := m.clock.Until(ctx, m.State().FetchedAt, m.times.FirstBoot, m.options.Now()); err != nil {
		return err
	}
	m.note(Entry{Event: EventIgnition})
	err := m.memory.update(func(s *State) { s.Applied, s.RebootAt = f.content, m.options.Now() })
	if err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// fetchIgnition asks for the configuration of the pool until it is served. The machine config server of a bootstrap
// host notes who asked, and refuses workers with status 500; the servers of the masters serve all pools
// (openshift/machine-config-operator, pkg/server/bootstrap_server.go).
func (m *Machine) fetchIgnition(ctx context.Context, f first) error {
	if _, err := m.waitAPI(ctx); err != nil {
		return err
	}
	if f.config != "" {
		return m.fetchConfig(ctx, f.config)
	}
	for {
		for _, st := range m.addresses() {
			if err := m.options.Site.NoteFetch(st.Address.Addr(), string(f.role)); err != nil {
				return err
			}
		}
		if f.role != model.RoleWorker || m.options.Site.HandedOver() {
			return nil
		}
		if err := m.clock.Pause(ctx, look); err != nil {
			return err
		}
	}
}

// join runs the kubelet until the node is ready. A node that was added to an existing
// cluster is admitted by whoever adds it.
func (m *Machine) join(ctx context.Context, who identity, added bool) error {
	api, err := m.waitAPI(ctx)
	if err != nil {
		return err
	}
	addresses := m.options.Spec.NodeAddresses(who.hint)
	roles := []string{string(who.role)}
	if who.role == model.RoleMaster {
		roles = []string{"master", "control-plane"}
	}
	joining, stop := context.WithCancel(ctx)
	defer stop()
	if cluster, err := m.options.Site.Cluster(); added && !m.options.OthersApprove || !added && err == nil && cluster.ControlPlane == 1 {
		kube, err := kubernetes.NewForConfig(kubeapi.Config(api, kubeapi.UserAdmin))
		if err != nil {
			return fmt.Errorf("make the client of approve-csr: %w", err)
		}
		go m.approveRequests(joining, kube) // a single node has no other host to do this
	}
	external, err := m.externalCloud(ctx, api)
	if err != nil {
		return err
	}
	name := strings.ToLower(who.name)
	if err := m.memory.update(func(s *State) { s.Node = name }); err != nil {
		return err
	}
	err = kubeapi.RunKubelet(ctx, api, kubeapi.NodeSpec{
		Name: name, Addresses: addresses, Roles: roles, ReadyAfter: m.clock.Real(m.times.NodeReady),
		Uninitialized: external, Architecture: goArchitecture(m.options.Spec.Architecture),
	})
	if err != nil {
		return fmt.Errorf("run the kubelet of %s: %w", who.name, err)
	}
	if m.State().NodeReady {
		return nil
	}
	m.note(Entry{Event: EventNodeReady, Detail: who.name})
	return m.memory.update(func(s *State) { s.NodeReady = true })
}
