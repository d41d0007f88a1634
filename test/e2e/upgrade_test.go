package e2e_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
)

// The service of the last release installs two clusters, with the agents and controllers of that release, and is replaced by the service
// of this checkout meanwhile (docs/upgrade.md). All hosts are installed, and the way back is refused.
func TestUpgradeFromTheLastRelease(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("RELEASE_PROGRAMS")
	if folder == "" {
		t.Skip("SKIP: this test needs RELEASE_PROGRAMS (make test-upgrade)")
	}
	older, newer := filepath.Join(folder, "slipway"), built.Binary(t)
	f := releasesOf(t, older, filepath.Join(folder, "slipway-demo"))
	f.startService(t, nil)
	single := f.beside(t, "single")
	shapes := map[*fleet]shape{f: {masters: 3, workers: 2, speed: 40}, single: {masters: 1, speed: 20}}
	for c, s := range shapes {
		c.define(t, s)
	}
	for c, s := range shapes {
		c.discover(t, s)
		c.install(t)
	}
	f.await(t, "writing", stageOf("master-1", wire.HostStageWritingImageToDisk))

	before := f.currentBuild(t)
	release := f.service.hold(t, syscall.SIGTERM)
	f.service.use(newer)
	f.program, single.program = newer, newer
	release()
	built.WaitReady(t, f.url)
	await.True(t, func() bool { return f.currentBuild(t) != before }, "the newer worker takes over")
	for c := range shapes {
		c.awaitStatus(t, wire.ClusterStatusInstalled)
		c.writtenOnce(t)
	}
	f.neverBack(t, before, f.currentBuild(t))

	// The schema of the version after this one.
	require.NoError(t, f.tryPSQL(t, "-c", "update slipway.schema_version set version = version + 1"))
	f.service.hold(t, syscall.SIGTERM)
	f.program = older
	require.Contains(t, f.startRefused(t), "the database was written by a newer version of Slipway")
}
