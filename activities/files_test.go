package activities_test

import (
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"slipway/activities"
	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/hostconfig/manifests"
	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
	"slipway/internal/sim/payload"
	"slipway/internal/sim/payload/standin"
	"slipway/internal/testing/pgtest"
	"slipway/internal/testing/unraced"
	"slipway/internal/wire"

	_ "gocloud.dev/blob/fileblob" // file:// addresses
)

// TestMain lets the test binary be the installer of the releases that tests serve.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "sim-installer" {
		os.Exit(standin.Main(standin.Call{Args: os.Args[2:], Env: os.Environ(), Now: time.Now(), Stdout: os.Stdout, Stderr: os.Stderr}))
	}
	os.Exit(m.Run())
}

// preparation is a cluster about to be prepared, with a release to install.
type preparation struct {
	t       *testing.T
	store   *store.Store
	blob    *blob.Store
	files   *activities.Files
	cluster *model.Cluster
	hosts   []*model.Host
}

func prepare(t *testing.T, change func(*model.Cluster), roles ...model.Role) *preparation {
	t.Helper()
	url := pgtest.Migrated(t, store.Migrate)
	sealer, err := encryption.New(make([]byte, encryption.KeySize))
	require.NoError(t, err)
	p := &preparation{t: t}
	p.store, err = store.Open(t.Context(), store.Options{URL: url, Sealer: sealer, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(p.store.Close)
	p.blob, err = blob.Open(t.Context(), "file://"+t.TempDir(), sealer)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	served, err := payload.Serve(t.Context(),
		payload.Options{Versions: []string{"4.20.33"}, Architecture: "amd64", InstallerCommand: []string{self, "sim-installer"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, served.Close()) })
	releases, err := release.Open(t.TempDir(), release.Options{PlainHTTP: []string{served.Address()}, Architecture: "amd64", Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(releases.Close)
	p.files = &activities.Files{Store: p.store, Blob: p.blob, Releases: releases}
	p.cluster = newPreparedCluster(served.ReleaseImage("4.20.33"))
	change(p.cluster)
	require.NoError(t, p.store.CreateCluster(t.Context(), p.cluster, func(*store.Tx) {}))
	env := &model.InfraEnv{ID: uuid.New(), Name: "env", NTPSources: []string{"ntp.example.com"}} // bound late
	require.NoError(t, p.store.CreateInfraEnv(t.Context(), env, func(*store.Tx) {}))
	for i, role := range roles {
		p.hosts = append(p.hosts, p.host(env.ID, i, role))
	}
	return p
}

func newPreparedCluster(image string) *model.Cluster {
	return &model.Cluster{
		ID: uuid.New(), Kind: model.KindCluster, Name: "one", BaseDNSDomain: "example.com", Status: model.ClusterPreparingForInstallation,
		OpenShiftVersion: "4.20.33", ReleaseImage: image, ControlPlaneCount: 3, PullSecret: `{"auths":{"quay.io":{"auth":"eDp5"}}}`,
		Platform:        model.Platform{Type: "baremetal"},
		APIVIPs:         []model.VIP{{IP: netip.MustParseAddr("192.168.10.5")}},
		IngressVIPs:     []model.VIP{{IP: netip.MustParseAddr("192.168.10.6")}},
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24")},
		ClusterNetworks: []model.ClusterNetwork{{CIDR: netip.MustParsePrefix("10.128.0.0/14"), HostPrefix: 23}},
		ServiceNetworks: []netip.Prefix{netip.MustParsePrefix("172.30.0.0/16")},
	}
}

func (p *preparation) host(env uuid.UUID, i int, role model.Role) *model.Host {
	p.t.Helper()
	h, err := p.store.RegisterHost(p.t.Context(), env, uuid.New(), func() *model.Host {
		return &model.Host{
			ClusterID: &p.cluster.ID, Kind: model.KindHost, Status: model.HostPreparingForInstallation, Role: role, Bootstrap: i == 0,
			AgentSteps:        model.FineSteps,
			RequestedHostname: fmt.Sprintf("%s-%d", role, i), InstallationDiskPath: "/dev/sda",
			Inventory: &wire.Inventory{Interfaces: []wire.Interface{{
				Name: "eth0", MacAddress: fmt.Sprintf("52:54:00:00:00:%02x", i), Ipv4Addresses: []string{fmt.Sprintf("192.168.10.%d/24", 10+i)},
			}}},
		}
	}, func(*model.Host, bool, *store.Tx) error { return nil })
	require.NoError(p.t, err)
	return h
}

// addManifest adds a user's manifest.
func (p *preparation) addManifest(folder, name, content string) {
	p.t.Helper()
	ref, err := p.blob.PutSecret(p.t.Context(), blob.ClusterFile(p.cluster.ID, "manifests/"+folder+"/"+name), []byte(content))
	require.NoError(p.t, err)
	require.NoError(p.t, p.store.PutManifest(p.t.Context(), model.Manifest{
		ClusterID: p.cluster.ID, Folder: folder, FileName: name, Source: store.SourceUser, Blob: ref,
	}))
}

func (p *preparation) generate() error {
	suite := &testsuite.WorkflowTestSuite{}
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(p.files.GenerateIgnition)
	_, err := env.ExecuteActivity(p.files.GenerateIgnition, activities.InstallRequest{ClusterID: p.cluster.ID})
	return err
}

func (p *preparation) file(name string) []byte {
	p.t.Helper()
	data, err := p.blob.Get(p.t.Context(), blob.ClusterFile(p.cluster.ID, name))
	require.NoError(p.t, err)
	return data
}

// inBootstrap returns a file of the bootstrap host.
func (p *preparation) inBootstrap(path string) string {
	p.t.Helper()
	return p.inFile("bootstrap.ign", path)
}

// inFile returns a file in an Ignition config.
func (p *preparation) inFile(name, path string) string {
	p.t.Helper()
	d, err := document.Parse(p.file(name))
	require.NoError(p.t, err)
	f, err := d.File(path)
	require.NoError(p.t, err)
	data, err := f.Content()
	require.NoError(p.t, err)
	return string(data)
}

func TestGenerateIgnitionOfAClusterWithAnArbiter(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	p := prepare(t, func(c *model.Cluster) {
		c.ControlPlaneCount = 2
		c.DiskEncryption = model.DiskEncryption{EnableOn: "arbiters", Mode: "tpmv2"}
		c.VIPDHCPAllocation, c.APIVIPLease = true, "lease {}"
		c.OLMOperators = []model.OLMOperator{{Name: "lso"}}
	}, model.RoleMaster, model.RoleMaster, model.RoleArbiter, model.RoleWorker)
	p.addManifest("manifests", "50-workers-chrony-configuration.yaml", "kind: MachineConfig\nmetadata: {name: mine}\n")
	require.NoError(t, p.generate())
	require.NoError(t, p.generate(), "a second attempt does the same")

	require.Contains(t, p.inBootstrap("/opt/openshift/openshift/50-masters-chrony-configuration.yaml"), "50-masters-chrony-configuration")
	require.Contains(t, p.inBootstrap("/opt/openshift/openshift/50-arbiters-chrony-configuration.yaml"), "role: arbiter")
	require.Equal(t, "kind: MachineConfig\nmetadata: {name: mine}\n",
		p.inBootstrap("/opt/openshift/manifests/50-workers-chrony-configuration.yaml"))
	require.NotContains(t, string(p.file("bootstrap.ign")), "/opt/openshift/openshift/50-workers-chrony", "the user's is used instead")
	require.Contains(t, p.inBootstrap("/opt/openshift/openshift/99-openshift-arbiter-tpmv2-encryption.yaml"), "tpm2: true")
	require.Contains(t, p.inBootstrap("/opt/openshift/manifests/cluster-scheduler-02-config.yml"), "mastersSchedulable: true")
	require.Contains(t, string(p.file("master.ign")), "/etc/keepalived/lease-api")
	require.NotContains(t, string(p.file("worker.ign")), "/etc/keepalived")
	require.Contains(t, string(p.file("arbiter.ign")), "/config/arbiter")
	for _, h := range p.hosts {
		require.Contains(t, string(p.file(string(h.Role)+"-"+h.ID.String()+".ign")), "/config/"+string(h.Role))
	}
	require.Contains(t, string(p.file("custom_manifests.json")), "Content")
	require.Contains(t, string(p.file("install-config.yaml")), "arbiter:")
	list, err := p.store.Manifests(t.Context(), p.cluster.ID)
	require.NoError(t, err)
	system := 0
	for _, m := range list {
		if m.Source == store.SourceSystem {
			system++
		}
	}
	require.GreaterOrEqual(t, system, 5)
}

func TestGenerateIgnitionOfASingleNode(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	p := prepare(t, func(c *model.Cluster) {
		c.ControlPlaneCount, c.Platform.Type = 1, "none"
		c.APIVIPs, c.IngressVIPs = nil, nil
	}, model.RoleMaster)
	p.files.Manifests = manifests.Options{SingleNodeDNS: true}
	require.NoError(t, p.generate())
	require.Contains(t, p.inBootstrap("/opt/openshift/openshift/dnsmasq-bootstrap-in-place.yaml"), "dnsmasq.service")
	require.Contains(t, p.inBootstrap("/opt/openshift/openshift/node-ip-hint.yaml"), "nodeip-configuration")
	require.JSONEq(t, "[]", string(p.file("custom_manifests.json")))
	c, err := p.store.Cluster(t.Context(), p.cluster.ID)
	require.NoError(t, err)
	require.NotNil(t, c.OpenShiftClusterID)
	require.Contains(t, string(p.file("metadata.json")), `"clusterID":"`+c.OpenShiftClusterID.String()+`"`)
}

func TestGenerateIgnitionTellsWhatDoesNotFit(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	p := prepare(t, func(*model.Cluster) {}, model.RoleMaster, model.RoleMaster, model.RoleMaster, model.RoleWorker, model.RoleWorker)
	_, err := p.store.UpdateHost(t.Context(), p.hosts[3].InfraEnvID, p.hosts[3].ID, func(h *model.Host, _ *store.Tx) error {
		h.MachineConfigPoolName = "infra"
		return nil
	})
	require.NoError(t, err)
	require.ErrorContains(t, p.generate(), `machine_config_pool_name of host worker-3: require a pool of the cluster or of its manifests (master, worker), found "infra"`)
	p.addManifest("openshift", "pool.yaml",
		"apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata: {name: infra}\n")
	require.NoError(t, p.generate())
	require.Contains(t, string(p.file("worker-"+p.hosts[3].ID.String()+".ign")), "/config/infra")
	p.addManifest("openshift", "none.yaml.patch", "- {op: remove, path: /a}\n")
	require.ErrorContains(t, p.generate(), "the installer made no manifest none.yaml")
}
