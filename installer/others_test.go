package installer_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
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

const (
	serverLog      = "/var/log/containers/x-machine-config-server-1.log"
	master1Fetched = `I0101 api.go:109] Pool master requested by address:"192.0.2.11:40520" User-Agent:"Ignition/2.19.0"` + "\n"
	master2Fetched = `I0101 api.go:109] Pool master requested by address:"192.0.2.12:40520" User-Agent:"Ignition/2.19.0"` + "\n"
)

// rebootingMasters makes two masters of which one fetched its Ignition, and an API that does not
// answer.
func rebootingMasters(t *testing.T) (*service, *host, *kube) {
	t.Helper()
	s := newService(t)
	h := newHost(t, map[string]hostexectest.Answer{"systemctl show": systemd{}.show})
	h.write(t, "/opt/openshift/auth/kubeconfig", "config")
	h.write(t, serverLog, master1Fetched)
	s.heard = make(chan string, 10)
	s.hosts = []wire.Host{
		otherHost(t, master1, "master-1", "192.0.2.11", "master", "Rebooting"),
		otherHost(t, master2, "master-2", "192.0.2.12", "master", "Rebooting"),
	}
	return s, h, &kube{
		held:   make(chan struct{}),
		nodes:  []installer.Node{node("master-1", "192.0.2.11", true), node("master-2", "192.0.2.12", true)},
		events: map[string]bool{"assisted-installer/AssistedControllerIsReady": true},
	}
}

func briefly(o *installer.Options) {
	o.FetchPause = time.Millisecond
	o.Sleep = func(ctx context.Context, _ time.Duration) error { return hostexec.Sleep(ctx, time.Millisecond) }
}

func TestMastersAreConfiguringAlthoughTheAPIDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(context.Context, *installer.Installer) error{
		"while the control plane comes up": func(ctx context.Context, i *installer.Installer) error {
			_, err := i.WaitControlPlane(ctx, request("bootstrap", 3))
			return err
		},
		"while bootkube runs": func(ctx context.Context, i *installer.Installer) error {
			return i.WaitBootkube(ctx, request("bootstrap", 3))
		},
		"while the controller starts": func(ctx context.Context, i *installer.Installer) error {
			return i.WaitController(ctx, request("bootstrap", 3))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h, k := rebootingMasters(t)
			over := make(chan error, 1)
			go func() { over <- wait(t.Context(), newInstaller(s, h, k, briefly)) }()
			require.Equal(t, master1+": Configuring", await.Receive(t, s.heard))
			h.write(t, serverLog, master1Fetched+master2Fetched)
			require.Equal(t, master2+": Configuring", await.Receive(t, s.heard))
			require.Empty(t, over, "the wait continues")
			close(k.held)
			h.write(t, "/opt/openshift/.bootkube.done", "")
			require.NoError(t, await.Receive(t, over))
			require.Zero(t, k.calls.Load(), "nothing is left running")
		})
	}
}

func TestWaitControlPlaneGoesOnAfterARestartOfTheAgent(t *testing.T) {
	t.Parallel()
	s, h, k := rebootingMasters(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("the agent ends")
	over := make(chan error, 1)
	go func() {
		_, err := newInstaller(s, h, k, briefly).WaitControlPlane(ctx, request("bootstrap", 3))
		over <- err
	}()
	require.Equal(t, master1+": Configuring", await.Receive(t, s.heard))
	cancel(ended)
	require.ErrorIs(t, await.Receive(t, over), ended)
	require.Zero(t, k.calls.Load(), "nothing is left running")

	s.mu.Lock()
	s.hosts[0].Progress.CurrentStage = "Configuring"
	s.mu.Unlock()
	close(k.held)
	report, err := newInstaller(s, h, k, briefly).WaitControlPlane(t.Context(), request("bootstrap", 3))
	require.NoError(t, err)
	require.Equal(t, []string{"master-1", "master-2"}, report.Ready)
	_, others := s.reports()
	require.Equal(t, []string{master1 + ": Configuring", master1 + ": Joined", master2 + ": Joined"}, others)
}

func TestALogThatCannotBeReadIsTold(t *testing.T) {
	t.Parallel()
	h := newHost(t, nil)
	h.write(t, serverLog+"/a-folder", "")
	require.NoError(t, os.Symlink("nowhere", h.root.Path("/var/log/containers/y-machine-config-server-2.log"))) // rotated away
	var said bytes.Buffer
	i := newInstaller(newService(t), h, nil, script(t), func(o *installer.Options) {
		o.Log = slog.New(slog.NewTextHandler(&said, nil))
	})
	require.Error(t, i.WaitBootkube(t.Context(), request("bootstrap", 3)))
	require.Equal(t, 1, strings.Count(said.String(), "log of the machine config server not read"), said.String())
}
