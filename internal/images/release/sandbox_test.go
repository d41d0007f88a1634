package release_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/release"
	"slipway/internal/sim/payload"
)

// boxed makes releases whose installers run in a sandbox, as the user of this process, and may read this program.
func boxed(t *testing.T, p *payload.Payload, more ...string) *release.Releases {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	r := openAt(t, p, filepath.Join(t.TempDir(), "releases"), func(o *release.Options) {
		o.Sandbox, o.Readable = release.SandboxRequired, append(more, self)
	})
	if err := r.CheckSandbox(t.Context()); err != nil {
		t.Skipf("SKIP: this machine makes no sandbox: %s", err)
	}
	return r
}

func TestConfigsAreGeneratedInASandbox(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	p := serve(t, payload.Options{}, self, "sim-installer")
	r := boxed(t, p)
	out, err := installer(t, r, p.ReleaseImage("4.20.33")).Generate(t.Context(), release.GenerateInput{
		InstallConfig: installConfig(t, 3, 1),
		Manifests:     map[string][]byte{"openshift/mine.yaml": []byte("kind: ConfigMap\nmetadata: {name: a}\n")},
	})
	require.NoError(t, err)
	require.Contains(t, bootstrapFile(t, out.Bootstrap, "/opt/openshift/openshift/mine.yaml"), "name: a")
	require.NotEmpty(t, out.KubeadminPassword.Reveal())
}

// Attack: the program of whoever names a release image reads the keys of the service and asks its
// neighbours.
func TestInstallerOfAHostileReleaseReachesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := filepath.Join(dir, "keys")
	require.NoError(t, os.WriteFile(key, []byte("key of the service"), 0o644))
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	script := `cat ` + key + `; ls -d ` + dir + ` /root /var /home /proc/1 /sys/kernel; ` +
		`exec 3<>/dev/tcp/127.0.0.1/` + port + ` && echo connected; cat /etc/passwd /proc/self/environ; touch /usr/new "$0"; ls -a ..; exit 7`
	p := serve(t, payload.Options{}, "/bin/bash", "-c", script, "/usr/bin/env")
	r := boxed(t, p)
	_, err = installer(t, r, p.ReleaseImage("4.20.33")).Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 3, 0)})
	var failure *release.GenerateError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, 7, failure.ExitCode)
	for _, refused := range []string{
		key + ": No such file", "'" + dir + "': No such file", "'/root': No such file", "'/var': No such file", "'/proc/1': No such file",
		"/etc/passwd: No such file", "/proc/self/environ: No such file", "'/usr/new': Read-only file system", "Network is unreachable",
	} {
		require.Contains(t, failure.Log, refused)
	}
	require.NotContains(t, failure.Log, "key of the service")
	require.NotContains(t, failure.Log, "connected")
}

func TestSandboxesAreReadByName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]release.Sandbox{
		"off": release.SandboxOff, "best-effort": release.SandboxBestEffort, "required": release.SandboxRequired,
	} {
		got, err := release.ParseSandbox(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := release.ParseSandbox("on")
	require.ErrorContains(t, err, `require off, best-effort or required, found "on"`)
}
