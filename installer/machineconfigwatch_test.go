package installer_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/testing/hostexectest"
)

// What a real machine-config-controller wrote (August 2026): its first lines, and its last one with a user's MachineConfig of
// Ignition 3.9.0. The kubelet's container engine writes time, stream and tag before each line.
const (
	controllerBegins = "2026-11-25T04:39:%02d.100000001Z stderr F I1125 04:39:%02d.100000   14539 bootstrap.go:40] Version: v4.19.0\n"
	controllerDies   = "2026-11-25T04:39:%02d.550682001Z stderr F F1125 04:39:%02d.550682    %d bootstrap.go:47] " +
		"error running MCC[BOOTSTRAP]: parsing Ignition config failed: unknown version. Supported spec versions: 2.2,3.0,3.1,3.2,3.3,3.4,3.5\n"
	registryFails = "2026-11-25T04:39:%02d.550682001Z stderr F F1125 04:39:%02d.550682    7685 bootstrap.go:47] " +
		"error running MCC[BOOTSTRAP]: could not fetch the image: dial tcp 192.0.2.1:%d: i/o timeout\n"
	controllerName = "/var/log/containers/bootstrap-machine-config-operator-master-0_default_machine-config-controller-%d.log"
)

// containers writes the logs of containers, each in place of the one before, as the kubelet keeps only the last.
type containers struct {
	t     *testing.T
	h     *host
	count int
}

func (c *containers) run(log string) func() {
	return func() {
		c.t.Helper()
		if c.count > 0 {
			require.NoError(c.t, os.Remove(c.h.root.Path(fmt.Sprintf(controllerName, c.count))))
		}
		c.count++
		c.h.write(c.t, fmt.Sprintf(controllerName, c.count), log)
	}
}

func dies(n int) string {
	const trace = "2026-11-25T04:39:59.1Z stderr F goroutine 1 [running]:\n"
	return fmt.Sprintf(controllerBegins, n, n) + fmt.Sprintf(controllerDies, n, n, 7000+n) + trace
}

func controllerHost(t *testing.T) (*service, *host, *containers) {
	t.Helper()
	s := newService(t)
	h := newHost(t, map[string]hostexectest.Answer{"systemctl show": systemd{}.show})
	return s, h, &containers{t: t, h: h}
}

func TestAControllerThatCannotReadAManifestEndsTheWait(t *testing.T) {
	t.Parallel()
	const want = "machine config controller ended 5 times, so that no other host gets its configuration: error running MCC[BOOTSTRAP]: " +
		"parsing Ignition config failed: unknown version. Supported spec versions: 2.2,3.0,3.1,3.2,3.3,3.4,3.5"
	looks := func(c *containers) func(*installer.Options) {
		again := func() {}
		return script(t, c.run(dies(1)), again, c.run(dies(2)), c.run(dies(3)), again, again, c.run(dies(4)), c.run(dies(5)))
	}
	t.Run("while masters are awaited", func(t *testing.T) {
		t.Parallel()
		s, h, c := controllerHost(t)
		_, err := newInstaller(s, h, &kube{}, looks(c)).WaitControlPlane(t.Context(), request("bootstrap", 3))
		require.EqualError(t, err, "wait for the control plane: "+want)
	})
	t.Run("while bootkube runs on a single node", func(t *testing.T) {
		t.Parallel()
		s, h, c := controllerHost(t)
		err := newInstaller(s, h, nil, looks(c)).WaitBootkube(t.Context(), request("bootstrap", 1))
		require.EqualError(t, err, "wait for bootkube: "+want)
	})
	t.Run("with the logs of all containers kept", func(t *testing.T) {
		t.Parallel()
		s, h, _ := controllerHost(t)
		for n := range 5 {
			h.write(t, fmt.Sprintf(controllerName, n), dies(n))
		}
		_, err := newInstaller(s, h, &kube{}, script(t)).WaitControlPlane(t.Context(), request("bootstrap", 3))
		require.EqualError(t, err, "wait for the control plane: "+want)
	})
	t.Run("the server", func(t *testing.T) {
		t.Parallel()
		s, h, _ := controllerHost(t)
		text := ""
		for n := range 5 {
			text += fmt.Sprintf("F1125 04:39:%02d.1     %d bootstrap.go:64] Machine Config Server exited with error: token is %s\n", n, n, token)
		}
		h.write(t, "/var/log/containers/bootstrap-machine-config-operator-master-0_default_machine-config-server-1.log", text)
		_, err := newInstaller(s, h, &kube{}, script(t)).WaitControlPlane(t.Context(), request("bootstrap", 3))
		require.EqualError(t, err, "wait for the control plane: machine config server ended 5 times, so that no other host gets its "+
			"configuration: Machine Config Server exited with error: token is [redacted]")
	})
}

func TestAControllerThatHealsIsAwaited(t *testing.T) {
	t.Parallel()
	const over = "nothing more will happen"
	again := func() {}
	for name, runs := range map[string]func(c *containers) []func(){
		"it ended four times": func(c *containers) []func() {
			return []func(){c.run(dies(1)), c.run(dies(2)), c.run(dies(3)), c.run(dies(4)), again, again, again, again, again, again}
		},
		"one death is seen at many looks": func(c *containers) []func() {
			return []func(){c.run(dies(1)), again, again, again, again, again, again, again}
		},
		"each time for another reason": func(c *containers) []func() {
			var all []func()
			for n := range 9 {
				all = append(all, c.run(fmt.Sprintf(registryFails, n, n, 5000+n)))
			}
			return all
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h, c := controllerHost(t)
			_, err := newInstaller(s, h, &kube{}, script(t, runs(c)...)).WaitControlPlane(t.Context(), request("bootstrap", 3))
			require.ErrorContains(t, err, over)
		})
	}
	t.Run("its newest container runs", func(t *testing.T) {
		t.Parallel()
		s, h, _ := controllerHost(t)
		start := time.Date(2026, 11, 25, 4, 39, 0, 0, time.UTC)
		for n := range 6 { // names of containers are in no order
			name, log := fmt.Sprintf(controllerName, 9-n), dies(n)
			if n == 5 {
				log = fmt.Sprintf(controllerBegins, n, n)
			}
			h.write(t, name, log)
			written := start.Add(time.Duration(n) * time.Minute)
			require.NoError(t, os.Chtimes(h.root.Path(name), written, written))
		}
		_, err := newInstaller(s, h, &kube{}, script(t, again)).WaitControlPlane(t.Context(), request("bootstrap", 3))
		require.ErrorContains(t, err, over)
	})
}
