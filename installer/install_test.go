package installer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/await"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

// working answers the commands of a host on which an installation succeeds.
func working(t *testing.T, h *host) {
	t.Helper()
	services(h, t)
	h.Succeeds(hostexectest.OfInstallation...)
	h.On("lsblk", hostexectest.Prints(emptyDisk))
	h.On("coreos-installer", writesImage)
	h.On("systemctl show", systemd{}.show)
	h.On("systemctl start bootkube.service", func(context.Context, hostexec.Cmd) (hostexec.Result, error) {
		h.write(t, "/opt/openshift/.bootkube.done", "")
		h.write(t, "/opt/openshift/master.ign", `{"ignition":{"version":"3.2.0"}}`)
		return hostexec.Result{}, nil
	})
}

func TestInstallReportsTheStagesOfEachRole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		role         wire.HostRole
		controlPlane int
		stages       []string
		reboot       string
	}{
		"a master": {
			"master", 3,
			[]string{"Starting installation master", "Installing master", "Writing image to disk", "Rebooting"},
			"shutdown -r +1",
		},
		"a worker waits for the control plane": {
			"worker", 0,
			[]string{
				"Starting installation worker", "Installing worker", "Writing image to disk", "Waiting for control plane", "Rebooting",
			},
			"shutdown -r +1",
		},
		"the bootstrap host leaves last": {
			"bootstrap", 3,
			[]string{
				"Starting installation bootstrap", "Installing master", "Writing image to disk",
				"Waiting for control plane masters have to join the bootstrap control plane",
				"Waiting for bootkube", "Waiting for controller", "Rebooting",
			},
			"shutdown -r +1",
		},
		"a single node writes its image after its bootstrap": {
			"bootstrap", 1,
			[]string{"Starting installation bootstrap", "Installing master", "Waiting for bootkube", "Writing image to disk", "Rebooting"},
			"shutdown -r now",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t, nil)
			working(t, h)
			s.files["bootstrap.ign"], s.files["ignition"] = bootstrapIgnition(), `{"ignition":{"version":"3.1.0"}}`
			s.hosts = []wire.Host{
				otherHost(t, master1, "master-1", "192.0.2.11", "master", "Done"),
				otherHost(t, master2, "master-2", "192.0.2.12", "master", "Done"),
			}
			k := &kube{
				nodes:  []installer.Node{node("master-1", "192.0.2.11", true), node("master-2", "192.0.2.12", true)},
				events: map[string]bool{"assisted-installer/AssistedControllerIsReady": true},
			}
			require.NoError(t, newInstaller(s, h, k, script(t)).Install(t.Context(), request(c.role, c.controlPlane)))
			stages, _ := s.reports()
			var without []string // percentages may be overtaken
			for _, stage := range stages {
				if !strings.HasSuffix(stage, "%") && !strings.Contains(stage, "The installation continues") {
					without = append(without, stage)
				}
			}
			require.Equal(t, c.stages, without)
			lines := h.Lines()
			require.Equal(t, c.reboot, lines[len(lines)-1])
			require.Equal(t, []string{"requested", "collecting", "completed"}, s.logs)
		})
	}
}

// Services of other implementations give arguments that their own installers write with --insecure.
func TestInstallOfAnotherServiceWritesUnsignedImages(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		``: "",
		`["--image-url","https://mirror.example.com/a.raw.gz"]`:              " --image-url https://mirror.example.com/a.raw.gz --insecure",
		`["--insecure","--image-url","https://mirror.example.com/a.raw.gz"]`: " --insecure --image-url https://mirror.example.com/a.raw.gz",
	} {
		s, h := newService(t), newHost(t, nil)
		working(t, h)
		h.On("coreos-installer", strict)
		s.files["ignition"] = `{"ignition":{"version":"3.1.0"}}`
		req := request("master", 3)
		req.InstallerArgs = args
		require.NoError(t, newInstaller(s, h, nil).Install(t.Context(), req))
		for _, c := range h.Commands() {
			if c.Name == "coreos-installer" {
				require.Equal(t, "coreos-installer install -i "+ignFile+want+" /dev/sda", c.String())
			}
		}
		require.Equal(t, 1, h.Count("coreos-installer"))
	}
}

func TestInstallWritesTheImageThreeTimesAtMost(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	working(t, h)
	h.On("coreos-installer", hostexectest.Fails(4, strings.Repeat("x", 500)+" disk is broken "+token))
	s.files["ignition"] = `{"ignition":{"version":"3.1.0"}}`
	var pauses []time.Duration
	err := newInstaller(s, h, nil, func(o *installer.Options) {
		o.Sleep = func(_ context.Context, d time.Duration) error {
			pauses = append(pauses, d)
			return nil
		}
	}).Install(t.Context(), request("master", 3))
	require.ErrorContains(t, err, "disk is broken")
	require.Equal(t, 3, h.Count("coreos-installer"))
	require.Equal(t, []time.Duration{time.Second, time.Second}, pauses)
	stages, _ := s.reports()
	last := stages[len(stages)-1]
	require.Contains(t, last, "Failed coreos-installer install")
	require.Contains(t, last, "exit status 4: xx")
	require.Contains(t, last, "disk is broken [redacted]")
	require.NotContains(t, last, strings.Repeat("x", 201))
	require.Zero(t, h.Count("shutdown"))
}

func TestInstallThatIsCalledOffReportsNoFailure(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	working(t, h)
	h.On("coreos-installer", hostexectest.Hangs)
	s.files["ignition"] = `{"ignition":{"version":"3.1.0"}}`
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- newInstaller(s, h, nil).Install(ctx, request("master", 3)) }()
	await.True(t, func() bool { return h.Count("coreos-installer") == 1 })
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	stages, _ := s.reports()
	require.NotContains(t, strings.Join(stages, "\n"), "Failed")
	require.Equal(t, 1, h.Count("coreos-installer"))
}
