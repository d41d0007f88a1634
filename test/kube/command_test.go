package kube_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	events "k8s.io/api/events/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"slipway/internal/testing/await"
)

// command gives a resource a command, as kubectl annotate does, and waits for the answer.
func (tr *trial) command(t *testing.T, o kube.Object, command, reason, note string) {
	t.Helper()
	patch := kube.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"slipway.dev/command":"`+command+`"}}}`))
	require.NoError(t, tr.kube.Patch(t.Context(), o, patch))
	await.True(t, func() bool {
		require.NoError(t, tr.kube.Get(t.Context(), kube.ObjectKeyFromObject(o), o))
		return o.GetAnnotations()["slipway.dev/command"] == ""
	}, command+" is not answered")
	tr.awaitEvent(t, o, reason, note)
}

// awaitEvent waits for an event about a resource whose note ends with a text.
func (tr *trial) awaitEvent(t *testing.T, o kube.Object, reason, note string) {
	t.Helper()
	await.True(t, func() bool {
		var list events.EventList
		require.NoError(t, tr.kube.List(t.Context(), &list, kube.InNamespace(o.GetNamespace())))
		for _, e := range list.Items {
			if e.Regarding.UID == o.GetUID() && e.Reason == reason && strings.HasSuffix(e.Note, note) && e.ReportingController == "slipway-kube" {
				return true
			}
		}
		return false
	}, "no event "+reason+": "+note)
}

// bootstrap waits until one of the hosts is the bootstrap of an installation that runs, and returns its name. It waits for the control
// plane, and stays as it is while another host has failed.
func (tr *trial) bootstrap(t *testing.T, hosts ...string) (name string) {
	t.Helper()
	await.True(t, func() bool {
		for _, name = range hosts {
			if a := tr.agent(t, name); a != nil && a.Status.Bootstrap && a.Status.DebugInfo.State == "installing-in-progress" {
				return true
			}
		}
		return false
	}, "no host is the bootstrap")
	return name
}

// commandHosts lets the installation of a cluster whose host "two" fails once end by commands.
func (tr *trial) commandHosts(t *testing.T) {
	t.Helper()
	var failed kube.Object
	await.True(t, func() bool {
		a := tr.agent(t, "two")
		failed = a
		return a != nil && a.Status.DebugInfo.State == "error"
	}, "the host does not fail")
	tr.awaitEvent(t, failed, "Error", "error: "+tr.agent(t, "two").Status.DebugInfo.StateInfo)
	working := tr.bootstrap(t, "one", "three")
	tr.command(t, tr.agent(t, working), "evict", "CommandRefused", "409: host "+working+
		" cannot take the command evict: require a host that failed in a running installation, found status installing-in-progress")
	tr.command(t, tr.agent(t, "one"), "restart", "CommandRefused",
		`restart: annotation slipway.dev/command: require one of approve, evict, reclaim, retry, retry-step, found "restart"`)
	tr.command(t, tr.install(t), "pause", "CommandAccepted", "pause: accepted")
	tr.kill(t)
	tr.run(t)
	tr.command(t, tr.install(t), "resume", "CommandAccepted", "resume: accepted")
	tr.command(t, failed, "retry-step", "CommandAccepted", "retry-step: accepted")
}
