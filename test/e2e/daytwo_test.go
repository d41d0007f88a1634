package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/sim"
	"slipway/internal/sim/site"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

// opened makes a fleet whose single node is installed and takes hosts, with the discovery image of an InfraEnv for them; pooled ones
// belong to no cluster.
func opened(t *testing.T, pooled bool, env ...string) (*fleet, uuid.UUID, *site.Site) {
	t.Helper()
	f := newFleet(t, env...)
	s := shape{masters: 1, speed: 0}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	_, err := f.client.AllowAddHosts(t.Context(), f.id)
	require.NoError(t, err)
	place, err := site.Open(filepath.Join(f.dir, "site"))
	require.NoError(t, err)
	node := []netip.Addr{netip.MustParseAddr("192.168.111.20")}
	require.NoError(t, place.SetNames(map[string][]netip.Addr{
		"api.e2e.example.com": node, "api-int.e2e.example.com": node, "console-openshift-console.apps.e2e.example.com": node,
	}))
	params := wire.InfraEnvCreateParams{Name: "more", PullSecret: f.pullSecret}
	if !pooled {
		params.ClusterID = &f.id
	}
	infraEnv, err := f.client.RegisterInfraEnv(t.Context(), params)
	require.NoError(t, err)
	config, err := f.client.DiscoveryIgnition(t.Context(), infraEnv.ID)
	require.NoError(t, err)
	f.ignition = filepath.Join(f.dir, "more.ign")
	require.NoError(t, os.WriteFile(f.ignition, config, 0o600))
	return f, infraEnv.ID, place
}

// awaitHost waits until a host of an environment, by its name or id, is in a status.
func (f *fleet) awaitHost(t *testing.T, infraEnvID uuid.UUID, name string, status wire.HostStatus) wire.Host {
	t.Helper()
	found := "the service never answered"
	for watch := await.Begin(t); !watch.Over(); time.Sleep(100 * time.Millisecond) {
		list, err := f.client.ListHosts(t.Context(), infraEnvID)
		if err != nil {
			continue
		}
		found = "it is not registered"
		for i := range list {
			if h := list[i]; h.RequestedHostname == name || h.ID.String() == name {
				if h.Status == status {
					return h
				}
				found = string(h.Status) + " (" + h.StatusInfo + ")\n" + h.ValidationsInfo
				watch.Progress(fmt.Sprint(h.Status, h.Progress.CurrentStage, h.Progress.InstallationPercentage))
			}
		}
	}
	require.Fail(t, "waited too long for "+name+" to be "+string(status), found)
	return wire.Host{}
}

func TestHostsAreAddedToAnInstalledCluster(t *testing.T) {
	t.Parallel()
	f, infraEnv, place := opened(t, false, perInfraEnv)
	workers := shape{masters: 3, speed: 0, flags: map[string][]string{"worker-1": {"--fail", "image-write"}}}
	f.startMachine(t, workers, "worker-0", 120)
	f.startMachine(t, workers, "worker-1", 121)
	v2 := shape{masters: 3, speed: 600, agentSteps: "install"}
	f.startMachine(t, v2, "worker-2", 122)
	names := []string{"worker-0", "worker-1", "worker-2"}
	for _, name := range names {
		h := f.awaitHost(t, infraEnv, name, wire.HostStatusKnown)
		require.Equal(t, wire.HostKindAddToExistingClusterHost, h.Kind)
		_, err := f.client.InstallHost(t.Context(), h.InfraEnvID, h.ID)
		require.NoError(t, err)
		_, err = f.client.InstallHost(t.Context(), h.InfraEnvID, h.ID)
		require.ErrorIs(t, err, model.ErrConflict, "it is being installed")
	}
	require.True(t, f.service.signal(syscall.SIGKILL), "what was accepted survives")

	failed := f.awaitHost(t, infraEnv, "worker-1", wire.HostStatusError)
	require.Contains(t, failed.StatusInfo, "Writing image to disk")
	require.NoError(t, f.client.RetryHostStep(t.Context(), failed.InfraEnvID, failed.ID, client.WithRetry(time.Minute)))
	for _, name := range names {
		f.awaitHost(t, infraEnv, name, wire.HostStatusAddedToExistingCluster)
	}
	require.NoError(t, sim.AwaitNodes(t.Context(), place, 100*time.Millisecond, names...))
	for name, a := range f.accounts(t) {
		writes := map[bool]int{true: 2, false: 1}[name == "worker-1"]
		require.Equal(t, writes, a.writes, name)
		require.Equal(t, writes, a.commanded["image-write"]+a.commanded["install"], name)
	}
	f.awaitStatus(t, wire.ClusterStatusAddingHosts)
	f.record(t, "add")

	done := f.awaitHost(t, infraEnv, "worker-0", wire.HostStatusAddedToExistingCluster)
	_, err := f.client.ResetHost(t.Context(), done.InfraEnvID, done.ID)
	require.NoError(t, err)
	f.awaitHost(t, infraEnv, done.ID.String(), wire.HostStatusResettingPendingUserAction)
	require.True(t, f.machines["worker-0"].signal(syscall.SIGUSR2), "boot the live image")
	f.awaitHost(t, infraEnv, "worker-0", wire.HostStatusKnown)
}

func TestAddedHostIsResetInTheMiddleOfItsInstallation(t *testing.T) {
	t.Parallel()
	f, infraEnv, _ := opened(t, false)
	f.startMachine(t, shape{masters: 3, speed: 60}, "worker-0", 120)
	h := f.awaitHost(t, infraEnv, "worker-0", wire.HostStatusKnown)
	_, err := f.client.InstallHost(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	await.True(t, func() bool {
		return f.host(t, "worker-0").Progress.CurrentStage == wire.HostStageWritingImageToDisk
	}, "it does not write its disk")
	_, err = f.client.ResetHost(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	f.awaitHost(t, infraEnv, "worker-0", wire.HostStatusKnown)
}

func TestInstalledHostIsReclaimed(t *testing.T) {
	t.Parallel()
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.Path)) }))
	defer images.Close()
	f, infraEnv, place := opened(t, true, "IMAGE_SERVICE_BASE_URL="+images.URL)
	f.startMachine(t, shape{masters: 3, speed: 0}, "worker-0", 120)
	h := f.awaitHost(t, infraEnv, "worker-0", wire.HostStatusKnownUnbound)
	_, err := f.client.BindHost(t.Context(), h.InfraEnvID, h.ID, f.id)
	require.NoError(t, err)
	f.awaitHost(t, infraEnv, "worker-0", wire.HostStatusKnown)
	_, err = f.client.InstallHost(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	f.awaitHost(t, infraEnv, "worker-0", wire.HostStatusAddedToExistingCluster)
	require.NoError(t, sim.AwaitNodes(t.Context(), place, 100*time.Millisecond, "worker-0"))

	require.NoError(t, f.client.ReclaimHost(t.Context(), h.InfraEnvID, h.ID))
	f.awaitHost(t, infraEnv, "worker-0", wire.HostStatusReclaiming)
	require.NoError(t, place.TakeBack(true))
	f.awaitHost(t, infraEnv, "worker-0", wire.HostStatusKnownUnbound)
	f.record(t, "reclaim")
}
