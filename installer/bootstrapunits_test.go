package installer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/hostexectest"
)

// systemd are the units of a host: "ActiveState Result" by name. Others are not loaded.
type systemd map[string]string

// show acts as systemctl show: a block a unit, in its own order of properties (systemctl(1)).
func (s systemd) show(_ context.Context, c hostexec.Cmd) (hostexec.Result, error) {
	var blocks []string
	for _, unit := range c.Args[2:] {
		state, known := s[unit]
		if !known {
			state = "inactive success"
		}
		active, result, _ := strings.Cut(state, " ")
		blocks = append(blocks, fmt.Sprintf("Result=%s\nId=%s\nActiveState=%s\n", result, unit, active))
	}
	return hostexec.Result{Stdout: strings.Join(blocks, "\n")}, nil
}

// A single node's bootstrap ends before its API is there again: progress.service repeats "oc get infrastructures"
// without end (openshift/installer, bootstrap-in-place.sh and report-progress.sh).
func TestWaitBootkubeOfASingleNodeEndsAlthoughProgressNeverDoes(t *testing.T) {
	t.Parallel()
	h := newHost(t, nil)
	h.On("systemctl show", systemd{"progress.service": "active success", "bootkube.service": "active success"}.show)
	i := newInstaller(newService(t), h, nil, script(t, func() {
		h.write(t, "/opt/openshift/master.ign", `{"ignition":{"version":"3.2.0"}}`)
		h.write(t, "/opt/openshift/.bootkube.done", "")
	}))
	require.NoError(t, i.WaitBootkube(t.Context(), request("bootstrap", 1)))
}

func TestWaitBootkubeOfASingleNodeNeedsItsIgnition(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"missing":                        "bootkube has not written /opt/openshift/master.ign",
		"":                               "/opt/openshift/master.ign is empty: an Ignition config is required",
		`{"ignition":{"version":"3.2.0"`: "check /opt/openshift/master.ign",
	} {
		h := newHost(t, nil)
		h.write(t, "/opt/openshift/.bootkube.done", "")
		if content != "missing" {
			h.write(t, "/opt/openshift/master.ign", content)
		}
		err := newInstaller(newService(t), h, nil, script(t)).WaitBootkube(t.Context(), request("bootstrap", 1))
		require.ErrorContains(t, err, want)
	}
}

func TestAUnitThatFailedEndsTheStepWithItsJournal(t *testing.T) {
	t.Parallel()
	failing := func(t *testing.T, unit, result string) (*service, *host) {
		t.Helper()
		s, h := newService(t), newHost(t, nil)
		services(h, t)
		s.files["bootstrap.ign"] = layered
		h.On("systemctl show", systemd{unit: "failed " + result}.show)
		h.On("journalctl --no-pager --output=cat --lines=20 --unit="+unit,
			hostexectest.Prints("pulling with "+token+"\nno space left on device\n"))
		return s, h
	}
	const journal = "pulling with [redacted]\nno space left on device"
	nothing := func() {}
	for unit, result := range map[string]string{"node-image-pull.service": "exit-code", "node-image-overlay.service": "exit-code"} {
		t.Run(unit, func(t *testing.T) {
			t.Parallel()
			s, h := failing(t, unit, result)
			err := newInstaller(s, h, nil, script(t)).StartBootstrap(t.Context(), bootstrap(3))
			require.EqualError(t, err, unit+" failed ("+result+"): "+journal)
			require.Zero(t, h.Count("systemctl start bootkube.service"))
		})
	}
	t.Run("a unit that bootkube needs", func(t *testing.T) {
		t.Parallel()
		s, h := failing(t, "release-image.service", "exit-code")
		h.write(t, "/usr/bin/oc", "")
		h.On("systemctl start", hostexectest.Fails(1, "A dependency job for bootkube.service failed."))
		err := newInstaller(s, h, nil, script(t)).StartBootstrap(t.Context(), bootstrap(3))
		require.EqualError(t, err, "start the bootstrap services: release-image.service failed (exit-code): "+journal)
	})
	t.Run("bootkube while masters are awaited", func(t *testing.T) {
		t.Parallel()
		s, h := failing(t, "bootkube.service", "start-limit-hit")
		_, err := newInstaller(s, h, &kube{}, script(t, nothing)).WaitControlPlane(t.Context(), request("bootstrap", 3))
		require.EqualError(t, err, "wait for the control plane: bootkube.service failed (start-limit-hit): "+journal)
	})
	t.Run("bootkube while it is awaited", func(t *testing.T) {
		t.Parallel()
		s, h := failing(t, "bootkube.service", "start-limit-hit")
		err := newInstaller(s, h, nil, script(t, nothing)).WaitBootkube(t.Context(), request("bootstrap", 1))
		require.EqualError(t, err, "wait for bootkube: bootkube.service failed (start-limit-hit): "+journal)
	})
	t.Run("progress", func(t *testing.T) {
		t.Parallel()
		s, h := failing(t, "progress.service", "exit-code")
		h.write(t, "/opt/openshift/.bootkube.done", "")
		err := newInstaller(s, h, nil, script(t, nothing)).WaitBootkube(t.Context(), request("bootstrap", 3))
		require.EqualError(t, err, "wait for the end of the bootstrap: progress.service failed (exit-code): "+journal)
	})
}

// bootkube.service is started again 5 s after each failure, without a limit.
func TestBootkubeThatIsStartedAgainIsAwaited(t *testing.T) {
	t.Parallel()
	h, units := newHost(t, nil), systemd{"bootkube.service": "failed exit-code"}
	h.On("systemctl show", units.show)
	h.write(t, "/opt/openshift/master.ign", `{"ignition":{"version":"3.2.0"}}`)
	again := func() { units["bootkube.service"] = "activating exit-code" }
	failed := func() { units["bootkube.service"] = "failed exit-code" }
	done := func() { h.write(t, "/opt/openshift/.bootkube.done", "") }
	i := newInstaller(newService(t), h, nil, script(t, again, failed, again, failed, done))
	require.NoError(t, i.WaitBootkube(t.Context(), request("bootstrap", 1)))
}

// progress.service creates a ConfigMap until that succeeds; it exists after the first time.
func TestServicesThatAreDoneAreNotStartedAgain(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	services(h, t)
	s.files["bootstrap.ign"] = bootstrapIgnition()
	i := newInstaller(s, h, nil)
	require.NoError(t, i.StartBootstrap(t.Context(), bootstrap(3)))
	require.Equal(t, 1, h.Count("systemctl start"))
	h.write(t, "/opt/openshift/.bootkube.done", "")
	require.NoError(t, i.StartBootstrap(t.Context(), bootstrap(3)))
	require.Equal(t, 1, h.Count("systemctl start"))
}
