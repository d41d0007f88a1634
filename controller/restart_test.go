package controller_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/controller"
	"slipway/internal/model"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/testing/tartest"
	"slipway/internal/wire"
)

// lives kills each controller after a random number of calls and counts them.
type lives struct {
	left atomic.Int64
	kill atomic.Pointer[context.CancelFunc]
}

func (l *lives) touch() {
	if l.left.Add(-1) == 0 {
		(*l.kill.Load())()
	}
}

func TestRunContinuesAfterKillsAtRandomMoments(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			s := newService(t, host(t, "master-0", "192.168.1.10/24"), host(t, "worker-0", "192.168.1.20/24"))
			var l lives
			s.before = func(*http.Request) bool {
				l.touch()
				return true
			}
			b := newBench(t, s)
			b.touched = l.touch
			b.join("master-0", "192.168.1.10", "master")
			b.join("worker-0", "192.168.1.20", "worker")
			b.rollOut(1)

			killed := 0
			for {
				life, kill := context.WithCancel(b.ctx)
				l.kill.Store(&kill)
				l.left.Store(5 + random.Int64N(15))
				err := controller.Run(life, b.options)
				kill()
				if err == nil {
					break
				}
				require.NoError(t, b.ctx.Err())
				require.ErrorIs(t, err, context.Canceled)
				killed++
			}

			require.Positive(t, killed)
			require.Equal(t, wire.ClusterStatus(model.ClusterInstalled), s.cluster.Status)
			for _, h := range s.cluster.Hosts {
				require.Equal(t, []wire.HostStage{"Joined", "Done"}, slices.Compact(s.stages[h.ID]), h.RequestedHostname)
			}
			require.Equal(t, wholeFinalizing, slices.Compact(s.finalizing))
		})
	}
}

func TestRunEnduresAServiceThatIsOftenAway(t *testing.T) {
	t.Parallel()
	s := newService(t, host(t, "sno", "192.168.1.10/24"))
	random := rand.New(rand.NewPCG(1, 1))
	s.before = func(*http.Request) bool { return random.IntN(3) > 0 }
	b := newBench(t, s)
	b.join("sno", "192.168.1.10", "master")
	b.rollOut(1)
	require.NoError(t, controller.Run(b.ctx, b.options))
	require.Equal(t, wire.ClusterStatus(model.ClusterInstalled), s.cluster.Status)
}

func TestRunEndsWithTheInstallation(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]model.ClusterStatus{
		"ends when the cluster is installed": model.ClusterInstalled,
		"ends when the cluster is cancelled": model.ClusterCancelled,
		"ends when the cluster adds hosts":   model.ClusterAddingHosts,
		"ends when the cluster is not known": "unknown",
		"ends when its token is refused":     "refused",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			s.cluster.Status = wire.ClusterStatus(status)
			b := newBench(t, s)
			switch status {
			case "unknown":
				s.fail = http.StatusNotFound
			case "refused":
				s.fail = http.StatusUnauthorized
			}
			require.NoError(t, controller.Run(b.ctx, b.options))
		})
	}
}

func TestRunWatchesAClusterInError(t *testing.T) {
	t.Parallel()
	s := newService(t, host(t, "sno", "192.168.1.10/24"))
	s.cluster.Status = wire.ClusterStatus(model.ClusterError)
	sent := make(chan struct{})
	s.before = func(r *http.Request) bool {
		if r.Method == http.MethodPut && len(s.logsStates) == 1 {
			close(sent)
		}
		return true
	}
	b := newBench(t, s)
	b.join("sno", "192.168.1.10", "master")
	b.rollOut(1)
	go func() {
		<-sent
		s.set(func(c *wire.Cluster) { c.Status = wire.ClusterStatus(model.ClusterInstalling) })
	}()
	require.NoError(t, controller.Run(b.ctx, b.options))
	require.Equal(t, wire.ClusterStatus(model.ClusterInstalled), s.cluster.Status)
	require.Equal(t, []wire.LogsState{"requested", "completed", "requested", "completed"}, s.logsStates)
}

func TestRunCompletesAgainWhenFinalizingIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	s := newService(t, host(t, "sno", "192.168.1.10/24"), host(t, "worker-0", "192.168.1.20/24"))
	s.needed = 1
	b := newBench(t, s)
	failed := false
	s.before = func(*http.Request) bool {
		if s.completed > 0 && !failed { // the worker is missing, the time is over, and the user continues
			failed = true
			s.set(func(*wire.Cluster) { s.completed = 0 })
			b.join("worker-0", "192.168.1.20", "worker")
		}
		return true
	}
	b.join("sno", "192.168.1.10", "master")
	b.rollOut(1)
	require.NoError(t, controller.Run(b.ctx, b.options))
	require.True(t, failed)
	require.Equal(t, wire.ClusterStatus(model.ClusterInstalled), s.cluster.Status)
}

func TestRunRequiresItsOptions(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, controller.Run(t.Context(), controller.Options{}), controller.ErrOptions)
}

func TestRunSendsLogsWhileTheClusterIsAway(t *testing.T) {
	t.Parallel()
	for _, status := range []model.ClusterStatus{model.ClusterInstalling, model.ClusterError} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			s.cluster.Status = wire.ClusterStatus(status)
			b := newBench(t, s)
			b.options.Kube = kubeapi.Config("http://127.0.0.1:1", kubeapi.UserController)
			b.options.LogsInterval = time.Millisecond
			s.before = func(*http.Request) bool {
				if len(s.logs) > 0 {
					s.set(func(c *wire.Cluster) { c.Status = wire.ClusterStatus(model.ClusterCancelled) })
				}
				return true
			}
			require.NoError(t, controller.Run(b.ctx, b.options))
			require.Contains(t, tartest.FilesGzip(t, s.logs[0]), "assisted-installer-controller.log")
		})
	}
}
