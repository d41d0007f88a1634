package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"slipway/internal/model"
)

const (
	// workerPool is the MachineConfigPool that new workers begin in.
	workerPool = "worker"
	// rolePrefix begins the labels by which nodes belong to pools.
	rolePrefix = "node-role.kubernetes.io/"
	// heldAnnotation marks a pool that the controller paused.
	heldAnnotation = "assisted-installer/paused"
)

// Pool is the MachineConfigPool of workers.
type Pool struct {
	Paused bool
	// Held: the controller paused it.
	Held bool
}

// PausePool pauses or resumes the pool of workers.
type PausePool struct{ Pause bool }

// missingPause pauses the pool of workers while hosts change to another pool: without, their nodes would be drained
// and rebooted into the configuration of the pool that they leave.
func missingPause(s State) []Action {
	if s.WorkerPool == nil {
		return nil
	}
	moving := slices.ContainsFunc(s.Cluster.Hosts, func(h Host) bool { return changesPool(h, s) })
	switch {
	case moving && !s.WorkerPool.Paused:
		return []Action{PausePool{Pause: true}}
	case !moving && s.WorkerPool.Held:
		return []Action{PausePool{}}
	}
	return nil
}

// changesPool: the host is on its way to a pool of its own and its node is not labelled yet.
func changesPool(h Host, s State) bool {
	if !inOwnPool(h) || !h.Stage.LeftLiveImage() || h.Status == model.HostError {
		return false
	}
	node := nodeOf(h, s)
	return node == nil || !labelled(node, rolePrefix+h.Pool)
}

func inOwnPool(h Host) bool {
	return h.Pool != "" && h.Pool != workerPool && h.Pool != string(model.RoleMaster)
}

func labelled(node *corev1.Node, label string) bool {
	_, ok := node.Labels[label]
	return ok
}

// waitsForPause: the label would move the node while its present pool is not paused. Without a pool of workers there
// is nothing to wait for.
func waitsForPause(h Host, s State) bool {
	return changesPool(h, s) && s.WorkerPool != nil && !s.WorkerPool.Paused
}
