package e2e_test

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
)

// setBuild is the setting that names the build of a worker.
const setBuild = "WORKER_BUILD_ID="

// Both replicas run while the newer one is rolled in; then the older one is killed, with Temporal and the database, and
// starts again.
func TestAnInstallationContinuesWhileWorkersAreRolled(t *testing.T) {
	t.Parallel()
	f := newFleet(t, setBuild+build1)
	require.Equal(t, build1, f.currentBuild(t))
	f.begin(t)
	f.await(t, "writing", phases[1].at)
	f.startWorker(t, build2)
	await.True(t, func() bool { return f.currentBuild(t) == build2 }, "the newer worker takes over")

	f.await(t, phases[2].name, phases[2].at)
	require.True(t, f.service.signal(syscall.SIGKILL))
	built.WaitReady(t, f.url)
	for range 5 {
		require.Equal(t, build2, f.currentBuild(t), "the older worker was started again")
		time.Sleep(time.Second)
	}
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
	f.neverBack(t, build1, build2)
}

// One process at a time runs with slipway up: nothing may wait for the older build.
func TestAnInstallationContinuesWhereANewerServiceReplacesAnOlder(t *testing.T) {
	t.Parallel()
	f := newFleet(t, setBuild+build1)
	f.begin(t)
	f.await(t, "writing", phases[1].at)
	f.service.set(setBuild + build2)
	require.True(t, f.service.signal(syscall.SIGKILL))
	built.WaitReady(t, f.url)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
	require.Equal(t, build2, f.currentBuild(t))
	f.neverBack(t, build1, build2)
}

// startWorker runs a replica of the worker beside the service until the test ends.
func (f *fleet) startWorker(t *testing.T, build string) {
	t.Helper()
	address := built.FreeAddress(t)
	w := &part{
		name: "worker " + build, log: filepath.Join(f.dir, "worker-"+build+".log"),
		env: append(f.service.env, setBuild+build, "TEMPORAL_ADDRESS="+built.Temporal(t, f.dataDir).HostPort,
			"TEMPORAL_CONFIG_FILE="+built.TemporalConfig(f.dataDir), "SLIPWAY_DATABASE_URL="+f.databaseURL()),
		args: []string{
			"worker", "--data-dir", f.dataDir, "--listen", address, "--base-url", f.url,
			"--insecure-registry", f.registry.Address(), "--installer-user", "0", "--installer-paths", f.demo, "--heartbeat", "20s",
		},
	}
	w.run(t, f.program)
	built.WaitReady(t, "http://"+address)
}

// currentBuild returns the version that Temporal gives the service's tasks to.
func (f *fleet) currentBuild(t *testing.T) (build string) {
	t.Helper()
	await.True(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		c, err := client.DialContext(ctx, built.Temporal(t, f.dataDir))
		if err != nil {
			return false
		}
		defer c.Close()
		queue, err := c.DescribeTaskQueue(ctx, "slipway", enumspb.TASK_QUEUE_TYPE_WORKFLOW)
		build = queue.GetVersioningInfo().GetCurrentDeploymentVersion().GetBuildId()
		return err == nil && build != ""
	}, "a version is current")
	return build
}

// neverBack holds the histories of all workflows against the order in which their builds became current.
func (f *fleet) neverBack(t *testing.T, builds ...string) {
	t.Helper()
	both := 0
	for _, h := range histories(t, f.dataDir) {
		var took []string
		for _, event := range h.raw.GetEvents() {
			done := event.GetWorkflowTaskCompletedEventAttributes()
			if done == nil {
				continue
			}
			build := done.GetDeploymentVersion().GetBuildId()
			require.Contains(t, builds, build, "%s, event %d", h.id, event.GetEventId())
			if len(took) == 0 || took[len(took)-1] != build {
				took = append(took, build)
			}
		}
		require.Subset(t, [][]string{nil, builds[:1], builds[1:], builds}, [][]string{took}, h.id)
		if len(took) == len(builds) {
			both++
		}
	}
	require.NotZero(t, both, "some workflow was begun by one build and continued by the other")
}
