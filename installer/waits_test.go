package installer_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

func node(name, address string, ready bool) installer.Node {
	return installer.Node{
		Name: name, Addresses: []netip.Addr{netip.MustParseAddr(address)}, Ready: ready,
		MachineConfig: installer.MachineConfig{Current: "rendered-master-1", Desired: "rendered-master-1", State: "Done"},
	}
}

func otherHost(t *testing.T, id, name, address string, role wire.HostRole, stage wire.HostStage) wire.Host {
	t.Helper()
	inventory, err := json.Marshal(wire.Inventory{Hostname: name, Interfaces: []wire.Interface{{Ipv4Addresses: []string{address + "/24"}}}})
	require.NoError(t, err)
	return wire.Host{
		ID: uuid.MustParse(id), InfraEnvID: envID, Role: role, RequestedHostname: name, Inventory: string(inventory),
		Progress: wire.HostProgressInfo{CurrentStage: stage},
	}
}

const (
	master1 = "aaaaaaaa-0000-4000-8000-000000000001"
	master2 = "aaaaaaaa-0000-4000-8000-000000000002"
	worker1 = "bbbbbbbb-0000-4000-8000-000000000001"
)

// script runs one change before each pause of a wait, and ends the test's patience.
func script(t *testing.T, changes ...func()) func(*installer.Options) {
	return func(o *installer.Options) {
		next := 0
		o.Sleep = func(ctx context.Context, d time.Duration) error {
			if next == len(changes) {
				return errors.New("nothing more will happen")
			}
			changes[next]()
			next++
			return ctx.Err()
		}
	}
}

func TestWaitControlPlaneReportsWhatItSees(t *testing.T) {
	t.Parallel()
	s, h, k := newService(t), newHost(t, nil), &kube{err: errors.New("connection refused")}
	h.write(t, "/opt/openshift/auth/kubeconfig", "config")
	s.hosts = []wire.Host{
		otherHost(t, master1, "master-1", "192.0.2.11", "master", "Rebooting"),
		otherHost(t, master2, "master-2", "192.0.2.12", "master", "Rebooting"),
		otherHost(t, worker1, "worker-1", "192.0.2.21", "worker", "Rebooting"),
	}
	log := `I0101 api.go:109] Pool master requested by address:"192.0.2.11:40520" User-Agent:"Ignition/2.19.0" Accept-Header:"x"
I0101 api.go:109] Pool worker requested by address:"[::ffff:192.0.2.21]:40521" User-Agent:"Ignition/2.19.0"
I0101 api.go:109] Pool master requested by address:"192.0.2.12:40522" User-Agent:"curl/8"
`
	i := newInstaller(s, h, k, script(t,
		func() { h.write(t, "/var/log/containers/x-machine-config-server-1.log", log) },
		func() {
			k.set(func(k *kube) {
				k.err, k.nodes = nil, []installer.Node{node("master-1", "192.0.2.11", true), node("master-2", "192.0.2.12", false)}
			})
		},
		func() { // the name differs, the address identifies the host
			k.set(func(k *kube) { k.nodes[1] = node("other-name", "192.0.2.12", true) })
		},
	))
	report, err := i.WaitControlPlane(t.Context(), request("bootstrap", 3))
	require.NoError(t, err)
	require.Equal(t, []string{"master-1", "other-name"}, report.Ready)
	_, others := s.reports()
	require.Equal(t, []string{
		master1 + ": Configuring", worker1 + ": Waiting for ignition", master1 + ": Joined", master2 + ": Joined",
	}, others)
	require.Equal(t, 1, s.wholes, "inventories are large: they are asked for once")
}

func TestWaitControlPlaneReportsNoStageTwiceAndNoneBackwards(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	k := &kube{nodes: []installer.Node{node("master-1", "192.0.2.11", true)}}
	h.write(t, "/opt/openshift/auth/kubeconfig", "config")
	h.write(t, "/var/log/containers/machine-config-server.log", `address:"192.0.2.11:1" User-Agent:"Ignition/2"`+"\n")
	s.hosts = []wire.Host{otherHost(t, master1, "master-1", "192.0.2.11", "master", "Done")}
	nothing := func() {}
	_, err := newInstaller(s, h, k, script(t, nothing, nothing)).WaitControlPlane(t.Context(), request("bootstrap", 3))
	require.ErrorContains(t, err, "wait for 2 ready nodes of the control plane, found 1")
	_, others := s.reports()
	require.Empty(t, others)
}

func TestWaitControlPlaneKnowsHowManyMastersThereAre(t *testing.T) {
	t.Parallel()
	for count, need := range map[int]int{2: 1, 3: 2, 4: 2, 5: 2} {
		s, h := newService(t), newHost(t, nil)
		h.write(t, "/opt/openshift/auth/kubeconfig", "config")
		k := &kube{}
		for n := range need {
			k.nodes = append(k.nodes, node(string(rune('a'+n)), "192.0.2.1", true))
		}
		report, err := newInstaller(s, h, k, script(t)).WaitControlPlane(t.Context(), request("bootstrap", count))
		require.NoError(t, err, "%d masters", count)
		require.Len(t, report.Ready, need)
	}
}

func TestWaitBootkubeWaitsForBothMarks(t *testing.T) {
	t.Parallel()
	h, units := newHost(t, nil), systemd{"progress.service": "active success"}
	h.On("systemctl show", units.show)
	i := newInstaller(newService(t), h, nil, script(t,
		func() { h.write(t, "/opt/openshift/.bootkube.done", "") },
		func() { h.On("systemctl show", hostexectest.Fails(1, "bus is away")) },
		func() {
			units["progress.service"] = "activating exit-code" // started again every 5 s
			h.On("systemctl show", units.show)
		},
		func() { units["progress.service"] = "inactive success" },
	))
	require.NoError(t, i.WaitBootkube(t.Context(), request("bootstrap", 3)))
}

func TestWaitControllerWaitsForItsEvent(t *testing.T) {
	t.Parallel()
	h, k := newHost(t, nil), &kube{err: errors.New("refused")}
	i := newInstaller(newService(t), h, k, script(t,
		func() { h.write(t, "/opt/openshift/auth/kubeconfig", "config") },
		func() { k.set(func(k *kube) { k.err = nil }) },
		func() {
			k.set(func(k *kube) { k.events = map[string]bool{"assisted-installer/AssistedControllerIsReady": true} })
		},
		func() { // not ready ones are not waited for, others are until they have their config
			k.set(func(k *kube) {
				k.nodes = []installer.Node{
					node("master-1", "192.0.2.11", true), node("master-2", "192.0.2.12", true), node("master-3", "192.0.2.13", false),
				}
				k.nodes[1].MachineConfig = installer.MachineConfig{Current: "rendered-master-1", Desired: "rendered-master-2", State: "Done"}
				k.nodes[2].MachineConfig = installer.MachineConfig{}
			})
		},
		func() {
			k.set(func(k *kube) {
				k.nodes[1].MachineConfig = installer.MachineConfig{Current: "rendered-master-2", Desired: "rendered-master-2", State: "Working"}
			})
		},
		func() { k.set(func(k *kube) { k.nodes[1].MachineConfig = installer.MachineConfig{} }) },
		func() { k.set(func(k *kube) { k.nodes[1] = node("master-2", "192.0.2.12", true) }) },
	))
	require.NoError(t, i.WaitController(t.Context(), request("bootstrap", 3)))
}

func TestWaitControllerNeedsConfigsOfTheCluster(t *testing.T) {
	t.Parallel()
	const configLimit = 20 * time.Minute
	const given, own = "rendered-master-bootstrap", "rendered-master-other"
	const arbiters = "rendered-arbiter-other"
	with := func(name, config string) installer.Node {
		n := node(name, "192.0.2.11", true)
		n.MachineConfig.Current, n.MachineConfig.Desired = config, config
		return n
	}
	errRefused := errors.New("refused")
	type nodes = []installer.Node
	unready := with("master-3", given)
	unready.Ready = false
	for name, c := range map[string]struct {
		nodes      nodes
		unrendered []string
		broken     error
		waits      time.Duration
	}{
		"two configs, none in the cluster":           {nodes{with("m1", given), with("m2", own)}, []string{given, own}, nil, configLimit},
		"two configs, both in the cluster":           {nodes{with("m1", given), with("m2", own)}, nil, nil, configLimit},
		"one config, none in the cluster":            {nodes{with("m1", given), with("m2", given)}, []string{given}, nil, configLimit},
		"one config that the cluster has":            {nodes{with("m1", own), with("m2", own)}, []string{given}, nil, 0},
		"an arbiter with the config of its pool":     {nodes{with("m1", own), with("a1", arbiters)}, nil, nil, 0},
		"an arbiter without a config in the cluster": {nodes{with("m1", own), with("a1", arbiters)}, []string{arbiters}, nil, configLimit},
		"a node that is not ready does not count":    {nodes{with("m1", own), with("m2", own), unready}, []string{given}, nil, 0},
		"an API that does not answer":                {nodes{with("m1", own), with("m2", own)}, nil, errRefused, configLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, nil)
			h.write(t, "/opt/openshift/auth/kubeconfig", "config")
			k := &kube{
				nodes: c.nodes, unrendered: map[string]bool{},
				events: map[string]bool{"assisted-installer/AssistedControllerIsReady": true},
			}
			for _, config := range c.unrendered {
				k.unrendered[config] = true
			}
			k.readErr = c.broken
			var waited time.Duration
			i := newInstaller(newService(t), h, k, countSleep(&waited))
			require.NoError(t, i.WaitController(t.Context(), request("bootstrap", 3)))
			require.Equal(t, c.waits, waited)
		})
	}
}

// countSleep adds up pauses instead of sleeping.
func countSleep(total *time.Duration) func(*installer.Options) {
	return func(o *installer.Options) {
		o.Sleep = func(_ context.Context, d time.Duration) error {
			*total += d
			return nil
		}
	}
}

func TestWaitControllerSeesTheConfigAppear(t *testing.T) {
	t.Parallel()
	h := newHost(t, nil)
	h.write(t, "/opt/openshift/auth/kubeconfig", "config")
	k := &kube{
		nodes:      []installer.Node{node("master-1", "192.0.2.11", true), node("master-2", "192.0.2.12", true)},
		events:     map[string]bool{"assisted-installer/AssistedControllerIsReady": true},
		unrendered: map[string]bool{"rendered-master-1": true},
	}
	i := newInstaller(newService(t), h, k, script(t,
		func() {},
		func() {
			k.set(func(k *kube) { k.unrendered = nil; k.nodes[0].MachineConfig.Desired = "rendered-master-2" })
		},
		func() { k.set(func(k *kube) { k.nodes[0].MachineConfig.Desired = "rendered-master-1" }) },
	))
	require.NoError(t, i.WaitController(t.Context(), request("bootstrap", 3)))
}

func TestWaitControllerLeavesANodeThatCannotGetItsConfig(t *testing.T) {
	t.Parallel()
	h := newHost(t, nil)
	h.write(t, "/opt/openshift/auth/kubeconfig", "config")
	k := &kube{
		nodes:  []installer.Node{node("master-1", "192.0.2.11", true), node("master-2", "192.0.2.12", true)},
		events: map[string]bool{"assisted-installer/AssistedControllerIsReady": true},
	}
	k.nodes[0].MachineConfig.State = "Degraded"
	var waited time.Duration
	i := newInstaller(newService(t), h, k, countSleep(&waited))
	require.NoError(t, i.WaitController(t.Context(), request("bootstrap", 3)))
	require.Equal(t, 20*time.Minute, waited)
}

func TestWaitsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	why := errors.New("called off")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	i := newInstaller(newService(t), newHost(t, nil), &kube{})
	_, err := i.WaitControlPlane(ctx, request("bootstrap", 3))
	require.ErrorIs(t, err, why)
	require.ErrorIs(t, i.WaitBootkube(ctx, request("bootstrap", 3)), why)
	require.ErrorIs(t, i.WaitController(ctx, request("bootstrap", 3)), why)
}
