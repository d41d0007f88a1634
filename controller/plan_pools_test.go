package controller_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"slipway/controller"
	"slipway/internal/model"
)

func TestWorkersChangeTheirPoolWhileThePoolTheyLeaveIsPaused(t *testing.T) {
	t.Parallel()
	at := func(stage model.Stage, status model.HostStatus) controller.Host {
		return controller.Host{Name: "worker-0", Pool: "storage", Stage: stage, Status: status}
	}
	bare, moved := node("worker-0", corev1.ConditionTrue), node("worker-0", corev1.ConditionTrue)
	moved.Labels = map[string]string{"node-role.kubernetes.io/storage": ""}
	const done, failed = model.HostInstallingInProgress, model.HostError
	label := controller.LabelNode{Node: "worker-0", Labels: map[string]string{"node-role.kubernetes.io/storage": ""}}
	for name, tc := range map[string]struct {
		host controller.Host
		pool *controller.Pool
		node []corev1.Node
		want []controller.Action
	}{
		"nothing before the host has its system": {
			host: at(model.StageWritingImageToDisk, done), pool: &controller.Pool{},
		},
		"paused before the node comes": {
			host: at(model.StageRebooting, done), pool: &controller.Pool{}, want: []controller.Action{controller.PausePool{Pause: true}},
		},
		"not labelled before the pool is paused": {
			host: at(model.StageDone, done), pool: &controller.Pool{}, node: []corev1.Node{bare},
			want: []controller.Action{controller.PausePool{Pause: true}},
		},
		"labelled while it is paused": {
			host: at(model.StageDone, done), pool: &controller.Pool{Paused: true, Held: true}, node: []corev1.Node{bare},
			want: []controller.Action{label},
		},
		"resumed after that": {
			host: at(model.StageDone, done), pool: &controller.Pool{Paused: true, Held: true}, node: []corev1.Node{moved},
			want: []controller.Action{controller.PausePool{}},
		},
		"resumed when the host failed": {
			host: at(model.StageRebooting, failed), pool: &controller.Pool{Paused: true, Held: true},
			want: []controller.Action{controller.PausePool{}},
		},
		"left paused for a user who paused it": {
			host: at(model.StageDone, done), pool: &controller.Pool{Paused: true}, node: []corev1.Node{moved},
		},
		"labelled where there is no pool": {
			host: at(model.StageDone, done), node: []corev1.Node{bare}, want: []controller.Action{label},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := controller.Missing(controller.State{
				Announced: true, Cluster: controller.Cluster{Hosts: []controller.Host{tc.host}}, Nodes: tc.node, WorkerPool: tc.pool,
			})
			require.Equal(t, tc.want, got.Duties)
		})
	}
}
