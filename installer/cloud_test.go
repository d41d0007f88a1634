package installer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/wire"
)

func TestUninitializedNodesAreFreedWhereNoCloudDoesIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		platform  wire.PlatformType
		overrides string
		freed     []string
	}{
		"vSphere with placeholders": {"vsphere", "", []string{"master-1"}},
		"Nutanix with placeholders": {"nutanix", `{"platform":{"nutanix":{"prismCentral":{"username":"admin"}}}}`, []string{"master-1"}},
		"vSphere with credentials": {
			"vsphere", `{"platform":{"vsphere":{"vcenters":[{"server":"vcenter.example.com","password":"a secret"}]}}}`, nil,
		},
		"an old vSphere with credentials": {"vsphere", `{"platform":{"vsphere":{"password":"a secret"}}}`, nil},
		"Nutanix with credentials":        {"nutanix", `{"platform":{"nutanix":{"prismCentral":{"password":"a secret"}}}}`, nil},
		"a cloud of its own":              {"external", "", nil},
		"bare metal":                      {"baremetal", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t, nil)
			s.cluster.Platform.Type, s.cluster.InstallConfigOverrides = c.platform, c.overrides
			h.write(t, "/opt/openshift/auth/kubeconfig", "config")
			k := &kube{nodes: []installer.Node{node("master-1", "192.0.2.11", false), node("master-2", "192.0.2.12", true)}}
			k.nodes[0].Uninitialized = true
			i := newInstaller(s, h, k, script(t, func() { k.set(func(k *kube) { k.nodes[0].Ready = true }) }))
			_, err := i.WaitControlPlane(t.Context(), request("bootstrap", 3))
			require.NoError(t, err)
			require.Equal(t, c.freed, k.initialized)
		})
	}
}

func TestWaitControlPlaneCountsArbiters(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	h.write(t, "/opt/openshift/auth/kubeconfig", "config")
	s.hosts = []wire.Host{
		otherHost(t, master1, "master-1", "192.0.2.11", "master", "Rebooting"),
		otherHost(t, master2, "arbiter", "192.0.2.12", "arbiter", "Rebooting"),
	}
	k := &kube{nodes: []installer.Node{node("master-1", "192.0.2.11", true)}}
	i := newInstaller(s, h, k, script(t, func() {
		k.set(func(k *kube) { k.nodes = append(k.nodes, node("arbiter", "192.0.2.12", true)) })
	}))
	report, err := i.WaitControlPlane(t.Context(), request("bootstrap", 2))
	require.NoError(t, err)
	require.Equal(t, []string{"arbiter", "master-1"}, report.Ready)
	_, others := s.reports()
	require.Equal(t, []string{master1 + ": Joined", master2 + ": Joined"}, others)
}
