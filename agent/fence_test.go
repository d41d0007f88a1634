package agent_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/agent/agenttest"
	"slipway/internal/cluster/steps"
	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// fence returns the fence of a step: attempt cluster of the cluster's installation, attempt host of the host alone.
func fence(boot string, cluster, host int) wire.StepFence {
	return wire.StepFence{Boot: boot, ClusterID: agenttest.ClusterID, ClusterAttempt: cluster, HostAttempt: host}
}

// writes acts as a coreos-installer that has written the image.
func writes(context.Context, hostexec.Cmd) (hostexec.Result, error) { return hostexec.Result{}, nil }

func TestStepForAnotherBootIsRefused(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.On("coreos-installer", writes)
	h.start(t, s)
	s.GiveFenced("image-write-1", steps.ImageWrite, fence("boot-0", 1, 0), installArgs(t, "master", 3))
	reply := s.AwaitReply(t, "image-write-1")
	require.Equal(t, 77, reply.ExitCode)
	require.Equal(t, "refused: image-write is for boot boot-0 of this host, which is in boot boot-1", reply.Error)
	require.Zero(t, h.Count("coreos-installer"))
	s.GiveFenced("image-write-2", steps.ImageWrite, fence("boot-1", 1, 0), installArgs(t, "master", 3))
	reply = s.AwaitReply(t, "image-write-2")
	require.Zero(t, reply.ExitCode, reply.Error)
	require.Equal(t, 1, h.Count("coreos-installer"))
}

func TestStepOfAnOlderAttemptThanOneThatRanIsRefused(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.On("coreos-installer", writes)
	first := h.start(t, s)
	s.GiveFenced("image-write-1", steps.ImageWrite, fence("boot-1", 2, 4), installArgs(t, "master", 3))
	reply := s.AwaitReply(t, "image-write-1")
	require.Zero(t, reply.ExitCode, reply.Error)
	first.stop(t)
	h.start(t, s) // it knows what the one before ran
	for id, tt := range map[string]struct {
		fence   wire.StepFence
		refused string
	}{
		"older-cluster": {fence("boot-1", 1, 4), "refused: image-write is of installation 1 of cluster " +
			"11111111-1111-4111-8111-111111111111, and this host has begun installation 2"},
		"older-host": {fence("boot-1", 2, 3), "refused: image-write is of attempt 3 of this host, which has begun attempt 4"},
	} {
		s.GiveFenced(id, steps.ImageWrite, tt.fence, installArgs(t, "master", 3))
		reply := s.AwaitReply(t, id)
		require.Equal(t, 77, reply.ExitCode, id)
		require.Equal(t, tt.refused, reply.Error)
	}
	require.Equal(t, 1, h.Count("coreos-installer"))
	another := wire.StepFence{Boot: "boot-1", ClusterID: uuid.New(), ClusterAttempt: 1}
	for id, right := range map[string]wire.StepFence{
		"same": fence("boot-1", 2, 4), "another-cluster": another, "none": {},
	} {
		s.GiveFenced(id, steps.ImageWrite, right, installArgs(t, "master", 3))
		reply := s.AwaitReply(t, id)
		require.Zero(t, reply.ExitCode, "%s: %s", id, reply.Error)
	}
}

// A refused step does not end a running step of its type.
func TestRefusedStepDoesNotTakeThePlaceOfTheOneThatRuns(t *testing.T) {
	t.Parallel()
	s, h, image := newService(t), newHost(t), newGated()
	h.On("coreos-installer", image.run)
	h.start(t, s)
	s.GiveFenced("image-write-2", steps.ImageWrite, fence("boot-1", 2, 0), installArgs(t, "master", 3))
	<-image.started
	s.GiveFenced("image-write-1", steps.ImageWrite, fence("boot-1", 1, 0), installArgs(t, "master", 3))
	require.Equal(t, 77, s.AwaitReply(t, "image-write-1").ExitCode)
	image.release <- struct{}{}
	reply := s.AwaitReply(t, "image-write-2")
	require.Zero(t, reply.ExitCode, reply.Error)
}
