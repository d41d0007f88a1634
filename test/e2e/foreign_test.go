package e2e_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

// Every host runs the agent of openshift/assisted-installer-agent, as internal/sim/foreign.go plays it: one step install, whose
// installer runs in a container that stays. Two disks break: one host is booted from its discovery image and retried, the
// other is retried on the spot, which podman refuses, and then like the first.
func TestHostsOfForeignAgentsAreRetried(t *testing.T) {
	t.Parallel()
	f := newFleet(t, perInfraEnv)
	breaks := []string{"--fail", "image-write:3"} // the installer itself tries three times
	s := shape{masters: 3, workers: 2, speed: 600, agentSteps: "install", flags: map[string][]string{"worker-0": breaks, "worker-1": breaks}}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	decision := func(name, reason string) *wire.Host {
		f.await(t, name+" to fail: "+reason, func(*wire.Cluster) bool {
			h := f.host(t, name)
			return h.Status == wire.HostStatusError && strings.Contains(h.StatusInfo, reason)
		})
		return f.host(t, name)
	}
	for _, name := range []string{"worker-0", "worker-1"} {
		failed := decision(name, "Input/output error")
		require.Contains(t, failed.StatusInfo, string(wire.HostStageWritingImageToDisk), "the stage it happened in")
	}

	reboot := func(name string) {
		require.True(t, f.machines[name].signal(syscall.SIGUSR2), "boot the live image")
		await.True(t, func() bool {
			boots := 0
			for _, e := range journal(t, filepath.Join(f.machineDir(name), sim.LogFile)) {
				if e.Event == sim.EventPoweredOn {
					boots++
				}
			}
			return boots == 2
		}, name+" does not boot")
		booted := time.Now()
		f.await(t, name+" to register again", func(*wire.Cluster) bool {
			return time.Time(f.host(t, name).CheckedInAt).After(booted)
		})
	}
	retry := func(name string) {
		h := f.host(t, name)
		require.NoError(t, f.client.RetryHost(t.Context(), h.InfraEnvID, h.ID))
	}
	reboot("worker-1")
	retry("worker-1")
	retry("worker-0")
	taken := decision("worker-0", "already in use")
	require.Contains(t, taken.StatusInfo, "boot the host from the discovery image, then retry")
	reboot("worker-0")
	retry("worker-0")

	f.awaitStatus(t, wire.ClusterStatusInstalled)
	want := map[string]int{"master-0": 1, "master-1": 1, "master-2": 1, "worker-0": 3, "worker-1": 2}
	for name, a := range f.accounts(t) {
		require.Equal(t, want[name], a.commanded["install"], name)
		require.Equal(t, 1, a.finished, "%s: its disk was written once to the end", name)
	}
}
