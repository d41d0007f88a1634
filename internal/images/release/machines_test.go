package release_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
	"slipway/internal/testing/unraced"
	"slipway/internal/wire"
)

// machineFiles lists the manifests of machines on a bootstrap host.
func machineFiles(t *testing.T, bootstrap []byte) []string {
	t.Helper()
	d, err := document.Parse(bootstrap)
	require.NoError(t, err)
	found := []string{}
	for _, f := range d.Files() {
		name, ok := strings.CutPrefix(f.Path, "/opt/openshift/openshift/")
		for _, part := range []string{"-machines-", "-machineset-", "control-plane-machine-set"} {
			if ok && strings.Contains(name, part) {
				found = append(found, name)
			}
		}
	}
	return found
}

func TestMachinesThatThePlatformWouldMakeAreRemoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		version, platform string
		want              []string
	}{
		"vsphere":                          {"4.20.33", "vsphere", []string{}},
		"vsphere without a set of masters": {"4.14.71", "vsphere", []string{}},
		"nutanix":                          {"4.20.33", "nutanix", []string{}},
		"nutanix with a set of masters":    {"4.14.71", "nutanix", []string{}},
		"baremetal, where the machines exist": {"4.20.33", "baremetal", []string{
			"99_openshift-cluster-api_master-machines-0.yaml", "99_openshift-cluster-api_master-machines-1.yaml",
			"99_openshift-cluster-api_master-machines-2.yaml", "99_openshift-cluster-api_worker-machineset-0.yaml",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, payload.Options{Versions: []string{c.version}})
			r, _ := open(t, p, nil)
			need := release.Need{Image: p.ReleaseImage(c.version), Platform: c.platform, Version: c.version, PullSecret: pullSecret}
			i, err := r.Installer(t.Context(), need)
			require.NoError(t, err)
			defer i.Close()
			const own = "99_openshift-cluster-api_worker-machineset-mine.yaml"
			mine := map[string][]byte{"openshift/" + own: []byte("kind: MachineSet\nmetadata: {name: mine}\n")}
			out, err := i.Generate(t.Context(), release.GenerateInput{
				InstallConfig: installConfigOf(t, 3, 1, func(m *model.Cluster) { m.Platform.Type, m.OpenShiftVersion = c.platform, c.version }),
				Manifests:     mine,
			})
			require.NoError(t, err)
			require.Equal(t, append(c.want, own), machineFiles(t, out.Bootstrap), "a user's own stays")
			require.NotEmpty(t, bootstrapFile(t, out.Bootstrap, "/opt/openshift/openshift/99_openshift-cluster-api_worker-user-data-secret.yaml"))
		})
	}
}

func TestHostsOfArbitersAreDescribed(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	p := serve(t, payload.Options{})
	r, _ := open(t, p, nil)
	out, err := installer(t, r, p.ReleaseImage("4.20.33")).Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 2, 1)})
	require.NoError(t, err)
	hosts := []*model.Host{{
		RequestedHostname: "arbiter2", Inventory: &wire.Inventory{Interfaces: []wire.Interface{{MacAddress: "52:54:00:00:00:02"}}},
	}}
	changed, err := ignition.Bootstrap(ignition.BootstrapInput{Config: out.Bootstrap, Hosts: hosts})
	require.NoError(t, err)
	manifest := bootstrapFile(t, changed, "/opt/openshift/openshift/99_openshift-cluster-api_arbiter_hosts-0.yaml")
	require.Contains(t, manifest, "externallyProvisioned: true")
	require.Contains(t, manifest, "baremetalhost.metal3.io/status")
	require.Contains(t, manifest, "baremetalhost.metal3.io/paused", "what the installer wrote stays")
}

func TestReleasesOfAnotherVersionThanTheClusterAreRefused(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	r, _ := open(t, p, nil)
	need := release.Need{Image: p.ReleaseImage("4.20.33"), Platform: "none", Version: "4.19.9", PullSecret: pullSecret}
	_, err := r.Installer(t.Context(), need)
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "require a release of OpenShift 4.19, as the cluster's version 4.19.9, found 4.20.33 in "+need.Image)
	need.Version = "4.20.0-ec.1"
	i, err := r.Installer(t.Context(), need)
	require.NoError(t, err)
	i.Close()
}
