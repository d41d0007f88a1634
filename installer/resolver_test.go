package installer_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/platform/hostexec"
)

func TestBootstrapLeavesAResolverThatWorks(t *testing.T) {
	t.Parallel()
	const before, after = "search example.com\nnameserver 192.0.2.1\n", "nameserver 192.0.2.2\n"
	for name, c := range map[string]struct {
		before  string
		restart func(h *host, t *testing.T)
		late    string // comes after some seconds
		after   int    // so many
		want    string
	}{
		"the network writes it anew":  {before, func(h *host, t *testing.T) { h.write(t, "/etc/resolv.conf", after) }, "", 0, after},
		"the network leaves it alone": {before, func(*host, *testing.T) {}, "", 0, before},
		"the network writes it late": {
			before, func(h *host, t *testing.T) { h.write(t, "/etc/resolv.conf", "# nothing yet\n") }, after, 3, after,
		},
		"the network writes it at last":  {before, dangling, after, 30, after},
		"it is left empty":               {before, func(h *host, t *testing.T) { h.write(t, "/etc/resolv.conf", "") }, "", 0, before},
		"it becomes a dangling link":     {before, dangling, "", 0, before},
		"there was none, and none comes": {"", func(*host, *testing.T) {}, "", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t, nil)
			services(h, t)
			s.files["bootstrap.ign"] = `{"ignition":{"version":"3.2.0"}}`
			if c.before != "" {
				h.write(t, "/etc/resolv.conf", c.before)
			}
			h.On("systemctl restart NetworkManager.service", func(context.Context, hostexec.Cmd) (hostexec.Result, error) {
				c.restart(h, t)
				return hostexec.Result{}, nil
			})
			slept := 0
			i := newInstaller(s, h, nil, func(o *installer.Options) {
				o.Sleep = func(context.Context, time.Duration) error {
					if slept++; slept == c.after {
						_ = os.Remove(h.root.Path("/etc/resolv.conf"))
						h.write(t, "/etc/resolv.conf", c.late)
					}
					return nil
				}
			})
			require.NoError(t, i.StartBootstrap(t.Context(), bootstrap(3)))
			content, _ := os.ReadFile(h.root.Path("/etc/resolv.conf"))
			require.Equal(t, c.want, string(content))
			if c.late != "" {
				require.Equal(t, c.after, slept)
			}
		})
	}
}

func dangling(h *host, t *testing.T) {
	t.Helper()
	require.NoError(t, os.Remove(h.root.Path("/etc/resolv.conf")))
	require.NoError(t, os.Symlink("/run/NetworkManager/no-stub.conf", h.root.Path("/etc/resolv.conf")))
}

func TestWhatIsSecretIsForRootOnly(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	services(h, t)
	s.files["bootstrap.ign"], s.files["ignition"] = bootstrapIgnition(), `{"ignition":{"version":"3.2.0"}}`
	require.NoError(t, os.MkdirAll(h.root.Path("/opt/install-dir"), 0o755))
	i := newInstaller(s, h, nil)
	require.NoError(t, i.StartBootstrap(t.Context(), bootstrap(3)))
	_, err := i.FetchIgnition(t.Context(), request("bootstrap", 3))
	require.NoError(t, err)
	for path, mode := range map[string]os.FileMode{
		"/opt/install-dir": 0o700, "/opt/install-dir/bootstrap.ign": 0o600, ignFile: 0o600,
		"/root/.ssh": 0o700, "/root/.docker/config.json": 0o600, "/opt/openshift/auth": 0o700,
		"/home/core/.ssh": 0o700, "/home/core/.ssh/authorized_keys.d": 0o700, "/home/core/.ssh/authorized_keys.d/ignition": 0o600,
		"/opt/openshift/manifests/assisted-installer-controller-05-secret.yaml": 0o600,
	} {
		info, err := os.Stat(h.root.Path(path))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
}
