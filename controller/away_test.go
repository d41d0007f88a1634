package controller_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	certv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/controller"
	"slipway/internal/model"
	"slipway/internal/testing/await"
	"slipway/internal/testing/tartest"
	"slipway/internal/wire"
)

func TestNodesJoinWhileTheServiceIsAway(t *testing.T) {
	t.Parallel()
	s := newService(t, host(t, "master-2", "192.168.1.12/24"))
	b := newBench(t, s)
	var seen, away atomic.Bool
	s.before = func(r *http.Request) bool {
		if away.Load() {
			return false
		}
		if r.Method == http.MethodGet {
			seen.Store(true)
		}
		return true
	}
	done := make(chan error, 1)
	go func() { done <- controller.Run(b.ctx, b.options) }()
	await.True(t, seen.Load, "the controller does not read the cluster")
	await.True(t, func() bool { // the answer has arrived: the controller acts on it
		_, err := b.kube.CoreV1().Events("assisted-installer").Get(b.ctx, controller.ReadyEvent, metav1.GetOptions{})
		return err == nil
	}, "the controller does not announce itself")
	away.Store(true)
	b.join("master-2", "192.168.1.12", "master")
	b.join("stranger", "192.168.1.99", "worker")
	await.True(t, func() bool {
		node, err := b.kube.CoreV1().Nodes().Get(b.ctx, "master-2", metav1.GetOptions{})
		return err == nil && node.Name != ""
	}, "the node did not join while the service was away")
	_, err := b.kube.CoreV1().Nodes().Get(b.ctx, "stranger", metav1.GetOptions{})
	require.Error(t, err, "a stranger joined")
	s.set(func(c *wire.Cluster) { c.Status = wire.ClusterStatus(model.ClusterCancelled) })
	require.Empty(t, s.named("certificate_request_approved"))
	away.Store(false)
	require.NoError(t, await.Receive(t, done, "the controller does not end"))
	approved := s.named("certificate_request_approved")
	require.NotEmpty(t, approved, "sent when the service is back")
	require.Contains(t, approved[0].Message, "for kubernetes.io/kube-apiserver-client-kubelet is approved")
	require.Regexp(t, `^\{"certificate_request":"[^"]+"\}$`, approved[0].Props)
}

// A host that was in the stage of the case when the service answered last asks for its first certificate.
func TestHostsMayBeFurtherThanTheServiceSaidLast(t *testing.T) {
	t.Parallel()
	for stage, approved := range map[model.Stage]bool{
		model.StageStartingInstallation: false, model.StageInstalling: false, model.StageWritingImageToDisk: true,
		model.StageWaitingForControlPlane: true, model.StageWaitingForBootkube: true, model.StageWaitingForController: true,
		"a stage of a newer service": true, "": false,
		model.StageRebooting: true, model.StageConfiguring: true, model.StageJoined: false, model.StageDone: false, model.StageFailed: false,
	} {
		t.Run(string(stage), func(t *testing.T) {
			t.Parallel()
			csr := clientAsked("master-2").csr(t, "csr-1")
			plan := controller.Missing(controller.State{
				Announced: true, Outdated: true, CSRs: []certv1.CertificateSigningRequest{*csr},
				Cluster: controller.Cluster{Hosts: []controller.Host{{Name: "master-2", Status: model.HostInstallingInProgress, Stage: stage}}},
			})
			require.Equal(t, approved, slices.ContainsFunc(plan.Duties, func(a controller.Action) bool {
				_, approves := a.(controller.ApproveCSR)
				return approves
			}))
		})
	}
}

// The process ends and another one begins while the service is away: by its faults, or because no address answers.
func TestNodesJoinAfterARestartWithoutTheService(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kept   func(cluster wire.Cluster) string // content of the file; empty: none
		joined bool
	}{
		"with the cluster that was kept": {func(c wire.Cluster) string { return asJSON(t, c) }, true},
		"not with another cluster":       {func(c wire.Cluster) string { c.ID = uuid.UUID{9}; return asJSON(t, c) }, false},
		"not with half a file":           {func(c wire.Cluster) string { text := asJSON(t, c); return text[:len(text)/2] }, false},
		"not without a file":             {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, host(t, "master-2", "192.168.1.12/24"))
			b := newBench(t, s)
			var asked atomic.Int32
			s.before = func(*http.Request) bool { asked.Add(1); return false }
			b.options.SeenFile = filepath.Join(t.TempDir(), "seen.json")
			if c.kept != nil {
				require.NoError(t, os.WriteFile(b.options.SeenFile, []byte(c.kept(s.cluster)), 0o600))
			}
			b.parts.Go(func() { _ = controller.Run(b.ctx, b.options) })
			b.join("master-2", "192.168.1.12", "master")
			joined := func() bool {
				_, err := b.kube.CoreV1().Nodes().Get(b.ctx, "master-2", metav1.GetOptions{})
				return err == nil
			}
			before := asked.Load()
			await.True(t, func() bool { return joined() || !c.joined && asked.Load() > before+3 }, "the node did not join")
			require.Equal(t, c.joined, joined())
		})
	}
}

func TestTheClusterIsKeptForARestart(t *testing.T) {
	t.Parallel()
	s := newService(t, host(t, "master-2", "192.168.1.12/24"))
	b := newBench(t, s)
	b.options.SeenFile = filepath.Join(t.TempDir(), "seen.json")
	b.parts.Go(func() { _ = controller.Run(b.ctx, b.options) })
	await.True(t, func() bool {
		content, err := os.ReadFile(b.options.SeenFile)
		return err == nil && strings.Contains(string(content), `"requested_hostname":"master-2"`)
	}, "the cluster is not kept")
	info, err := os.Stat(b.options.SeenFile)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

// clock is moved by its test.
type clock struct{ ahead atomic.Int64 }

func (c *clock) Now() time.Time       { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) pass(d time.Duration) { c.ahead.Add(int64(d)) }

// The service is away from the first moment on until all is done in the cluster, and again in the middle of the last logs.
func TestInstallationEndsAfterTwoHoursWithoutTheService(t *testing.T) {
	t.Parallel()
	s := newService(t, host(t, "master-2", "192.168.1.12/24"))
	b := newBench(t, s)
	var now clock
	b.options.Now, b.options.LogsInterval = now.Now, 100*time.Hour // the last logs alone
	b.options.LogFile = filepath.Join(t.TempDir(), "controller.log")
	require.NoError(t, os.WriteFile(b.options.LogFile, []byte("controller started\n"), 0o600))
	var seen, away atomic.Bool
	var uploads atomic.Int32
	s.before = func(r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/logs") && uploads.Add(1) == 1 {
			now.pass(twoHours)
			return false
		}
		seen.Store(true)
		return !away.Load()
	}
	done := make(chan error, 1)
	go func() { done <- controller.Run(b.ctx, b.options) }()
	await.True(t, func() bool {
		_, err := b.kube.CoreV1().Events("assisted-installer").Get(b.ctx, controller.ReadyEvent, metav1.GetOptions{})
		return err == nil && seen.Load()
	}, "the controller does not announce itself")
	away.Store(true)
	b.join("master-2", "192.168.1.12", "master")
	await.True(t, func() bool {
		_, err := b.kube.CoreV1().Nodes().Get(b.ctx, "master-2", metav1.GetOptions{})
		return err == nil
	}, "the node did not join while the service was away")
	b.rollOut(1)
	now.pass(twoHours)
	away.Store(false)
	require.NoError(t, await.Receive(t, done, "the controller does not end"))
	require.Equal(t, wire.ClusterStatus(model.ClusterInstalled), s.cluster.Status)
	require.Equal(t, wire.HostStage(model.StageDone), s.stages[s.cluster.Hosts[0].ID][len(s.stages[s.cluster.Hosts[0].ID])-1])
	require.Contains(t, s.logsStates, wire.LogsState("completed"))
	require.NotEmpty(t, s.logs, "the logs arrive afterwards")
	require.Contains(t, tartest.FilesGzip(t, s.logs[len(s.logs)-1])["assisted-installer-controller.log"], "controller started")
}

const twoHours = 2 * time.Hour

func TestLastLogsAreSentUntilTheServiceHasThem(t *testing.T) {
	t.Parallel()
	requested := func(r *http.Request) bool {
		return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/logs-progress")
	}
	uploaded := func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/logs")
	}
	// refuse drops the first requests of a kind.
	refuse := func(count int32, kind func(*http.Request) bool) func(*http.Request) bool {
		var left atomic.Int32
		left.Store(count)
		return func(r *http.Request) bool { return !kind(r) || left.Add(-1) < 0 }
	}
	tests := map[string]struct {
		status model.ClusterStatus
		before func(*http.Request) bool
		change func(*controller.Options)
		states []wire.LogsState
		log    string
	}{
		"when the announcement is refused": {
			model.ClusterFinalizing, refuse(1, requested), nil, []wire.LogsState{"completed"}, "controller started",
		},
		"when the upload is refused": {
			model.ClusterFinalizing, refuse(3, uploaded), nil, []wire.LogsState{"requested", "completed"}, "controller started",
		},
		"when the last report is refused": {
			model.ClusterFinalizing, func() func(*http.Request) bool {
				var seen atomic.Int32
				return func(r *http.Request) bool { return !requested(r) || seen.Add(1) != 2 }
			}(), nil, []wire.LogsState{"requested", "completed"}, "controller started",
		},
		"when the log cannot be read": {
			model.ClusterFinalizing, nil, func(o *controller.Options) { o.LogFile = filepath.Join(filepath.Dir(o.LogFile), "missing") },
			[]wire.LogsState{"requested", "completed"},
			"cannot be read",
		},
		"of a failed cluster when the upload is refused": {
			model.ClusterError, refuse(2, uploaded), nil, []wire.LogsState{"requested", "completed"}, "controller started",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, host(t, "sno", "192.168.1.10/24"))
			if test.status == model.ClusterError {
				s.cluster.Status = wire.ClusterStatus(test.status)
			}
			b := newBench(t, s)
			b.options.LogFile = filepath.Join(t.TempDir(), "controller.log")
			require.NoError(t, os.WriteFile(b.options.LogFile, []byte("controller started\n"), 0o600))
			if test.change != nil {
				test.change(&b.options)
			}
			s.before = func(r *http.Request) bool {
				s.mu.Lock()
				ended := test.status == model.ClusterError && len(s.logsStates) == len(test.states)
				s.mu.Unlock()
				if ended {
					s.set(func(c *wire.Cluster) { c.Status = wire.ClusterStatus(model.ClusterCancelled) })
				}
				return test.before == nil || test.before(r)
			}
			b.join("sno", "192.168.1.10", "master")
			b.rollOut(1)
			require.NoError(t, controller.Run(b.ctx, b.options))
			require.Equal(t, test.states, s.logsStates)
			require.Len(t, s.logs, 1)
			require.Contains(t, tartest.FilesGzip(t, s.logs[0])["assisted-installer-controller.log"], test.log)
			if test.status != model.ClusterError {
				require.Equal(t, wire.ClusterStatus(model.ClusterInstalled), s.cluster.Status)
			}
		})
	}
}
