package sim

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"strings"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
	"slipway/internal/sim/kubeapi"
)

// identity is what a machine is in its cluster.
type identity struct {
	name string
	role model.Role
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
		if pool := path.Base(source); pool == string(model.RoleWorker) || pool == string(model.RoleMaster) {
			who.role = model.Role(pool)
		}
		return source
	})
	if err != nil {
		return who, fmt.Errorf("read the Ignition on the disk: %w", err)
	}
	file, err := config.File("/etc/hostname")
	if errors.Is(err, model.ErrNotFound) {
		return who, nil
	}
	if err != nil {
		return who, err
	}
	name, err := file.Content()
	if err != nil {
		return who, fmt.Errorf("read the name in the Ignition on the disk: %w", err)
	}
	who.name = strings.TrimSpace(string(name))
	return who, nil
}

// runDisk is a boot from the disk: Ignition on the first one, then the kubelet.
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
	if m.State().Applied != content.ID {
		if err := m.firstBoot(ctx, content.ID, config); err != nil {
			return err
		}
	}
	if err := m.join(ctx, who, config != ""); err != nil {
		return err
	}
	return m.takeBack(ctx)
}

// firstBoot is Ignition: it asks the machine config server of the cluster, which the
// bootstrap host sees, and changes the operating system. config is where a machine asks
// that joins an existing cluster.
func (m *Machine) firstBoot(ctx context.Context, content, config string) error {
	if m.State().FetchedAt.IsZero() {
		if _, err := m.waitAPI(ctx); err != nil {
			return err
		}
		if config != "" {
			if err := m.fetchConfig(ctx, config); err != nil {
				return err
			}
		}
		for _, st := range m.addresses() {
			if err := m.options.Site.NoteFetch(st.Address.Addr()); err != nil {
				return err
			}
		}
		if err := m.memory.update(func(s *State) { s.FetchedAt = m.options.Now() }); err != nil {
			return err
		}
	}
	if err := m.clock.Until(ctx, m.State().FetchedAt, m.times.FirstBoot, m.options.Now()); err != nil {
		return err
	}
	if err := m.memory.update(func(s *State) { s.Applied = content }); err != nil {
		return err
	}
	m.note(Entry{Event: EventIgnition})
	return nil
}

// join runs the kubelet until the node is ready. A node that was added to an existing
// cluster is admitted by whoever adds it.
func (m *Machine) join(ctx context.Context, who identity, added bool) error {
	api, err := m.waitAPI(ctx)
	if err != nil {
		return err
	}
	var addresses []netip.Addr
	for _, st := range m.addresses() {
		addresses = append(addresses, st.Address.Addr())
	}
	roles := []string{string(who.role)}
	if who.role == model.RoleMaster {
		roles = []string{"master", "control-plane"}
	}
	joining, stop := context.WithCancel(ctx)
	defer stop()
	if cluster, err := m.options.Site.Cluster(); added || err == nil && cluster.ControlPlane == 1 {
		go m.approveRequests(joining, api) // a single node has no other host to do this
	}
	err = kubeapi.RunKubelet(ctx, api, kubeapi.NodeSpec{
		Name: strings.ToLower(who.name), Addresses: addresses, Roles: roles, ReadyAfter: m.clock.Real(m.times.NodeReady),
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
