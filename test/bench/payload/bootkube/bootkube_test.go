package bootkube_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/payload/bootkube"
	"slipway/test/bench/payload/etcd"
	"slipway/test/bench/payload/plan"
	"slipway/test/bench/payload/programs"
)

var errPatience = errors.New("the test waited long enough")

// newBootkube makes a host without a control plane, whose waits end after a while.
func newBootkube(t *testing.T, cluster plan.Cluster, files ...string) *bootkube.Bootkube {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	looks := 0
	return &bootkube.Bootkube{
		Host: &programs.Host{Plan: &cluster, Role: plan.Bootstrap, Keys: pki.Keys(dir), Own: pki.Keys(dir), State: dir, Now: time.Now},
		Etcd: &etcd.Ctl{}, OpenShift: dir, Log: slog.New(slog.DiscardHandler),
		Stop: func(context.Context, ...string) error { return nil },
		Sleep: func(context.Context, time.Duration) error {
			if looks++; looks == 100 {
				return errPatience
			}
			return nil
		},
	}
}

func TestProgressOfASingleNodeNeverEnds(t *testing.T) {
	t.Parallel()
	b := newBootkube(t, plan.Cluster{InPlace: true, ControlPlane: 1}, ".bootkube.done")
	require.ErrorIs(t, b.Progress(t.Context()), errPatience)
}

func TestVotersNeededDependOnTheMark(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ masters, with, without int }{{3, 2, 3}, {5, 2, 3}, {2, 1, 2}} {
		cluster := plan.Cluster{ControlPlane: c.masters}
		require.Equal(t, c.with, newBootkube(t, cluster, "assisted-install-bootstrap").VotersNeeded(), "%d masters", c.masters)
		require.Equal(t, c.without, newBootkube(t, cluster).VotersNeeded(), "%d masters, no mark", c.masters)
	}
}

func TestBootkubeContinuesAfterTheStagesThatAreDone(t *testing.T) {
	t.Parallel()
	b := newBootkube(t, plan.Cluster{ControlPlane: 3}, "cb-bootstrap.done", "machine-config-server-gone.done", "wait-for-ceo.done")
	require.NoError(t, b.Run(t.Context()), "that the address of the API does not answer is only logged")
	require.FileExists(t, filepath.Join(b.OpenShift, ".bootkube.done"))
}

func TestBootkubeThatFailsIsNotDone(t *testing.T) {
	t.Parallel()
	for name, marks := range map[string][]string{
		"stage cb-bootstrap": nil, "stage wait-for-ceo": {"cb-bootstrap.done", "machine-config-server-gone.done"},
	} {
		b := newBootkube(t, plan.Cluster{ControlPlane: 3}, marks...)
		require.ErrorContains(t, b.Run(t.Context()), name)
		require.NoFileExists(t, filepath.Join(b.OpenShift, ".bootkube.done"))
	}
	b := newBootkube(t, plan.Cluster{InPlace: true, ControlPlane: 1}, "cb-bootstrap.done", "stop-etcd.done")
	require.ErrorContains(t, b.Run(t.Context()), "stage master-ignition: fetch the config of the masters")
	require.NoFileExists(t, filepath.Join(b.OpenShift, ".bootkube.done"))
}
