package release_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
)

// other is a user without an entry in /etc/passwd.
var other = &release.User{UID: 65533, GID: 65533}

// reachable makes a folder that other users can pass through.
func reachable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o711))
	require.NoError(t, os.Chmod(dir, 0o711))
	return dir
}

func requireRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIP: only root runs programs as another user")
	}
}

func TestTheInstallerRunsAsAUserOfItsOwn(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	dir := reachable(t)
	key := filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(key, []byte("key of the service"), 0o600))
	script := fmt.Sprintf(`echo "user $(id -u) groups $(id -G) processes $$"; cat %s; cat /proc/net/dev; ls %s/releases/work; touch %s/new; exit 7`, key, dir, dir)
	p := serve(t, payload.Options{}, "/bin/sh", "-c", script, "installer")
	r := openAt(t, p, filepath.Join(dir, "releases"), func(o *release.Options) { o.User = other })
	_, err := installer(t, r, p.ReleaseImage("4.20.33")).Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 3, 0)})
	var failure *release.GenerateError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, 7, failure.ExitCode)
	require.Contains(t, failure.Log, "user 65533 groups 65533 processes")
	require.NotContains(t, failure.Log, "key of the service")
	require.NotContains(t, failure.Log, "generate-", "the folders of other runs are not listed")
	require.NoFileExists(t, filepath.Join(dir, "new"))
	probe := exec.Command("/bin/true")
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID}
	if probe.Run() != nil {
		t.Log("this machine makes no namespaces")
		return
	}
	require.NotRegexp(t, `(?m)^ *(eth|en|veth|docker)\S*:`, failure.Log, "no network but its own")
	require.Contains(t, failure.Log, "processes 1\n", "processes that it leaves behind end with it")
}

func TestConfigsAreGeneratedByAnotherUser(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	dir := reachable(t)
	self, err := os.Executable()
	require.NoError(t, err)
	from, err := os.Open(self)
	require.NoError(t, err)
	defer from.Close()
	copied := filepath.Join(dir, "installer")
	to, err := os.OpenFile(copied, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(to, from)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	p := serve(t, payload.Options{}, copied, "sim-installer")
	r := openAt(t, p, filepath.Join(dir, "releases"), func(o *release.Options) { o.User = other })
	out, err := installer(t, r, p.ReleaseImage("4.20.33")).Generate(t.Context(), release.GenerateInput{
		InstallConfig: installConfig(t, 3, 1), Manifests: map[string][]byte{
			"openshift/mine.yaml": []byte("kind: ConfigMap\nmetadata: {name: a}\n"),
			"manifests/cluster-scheduler-02-config.yml.patch_mine": []byte("- {op: replace, path: /spec/mastersSchedulable, value: true}\n"),
		},
	})
	require.NoError(t, err)
	file := bootstrapFiles(t, out.Bootstrap)
	require.Contains(t, file("/opt/openshift/openshift/mine.yaml"), "name: a")
	scheduler := file("/opt/openshift/manifests/cluster-scheduler-02-config.yml")
	require.Contains(t, scheduler, "mastersSchedulable: true")
	require.NotEmpty(t, out.KubeadminPassword.Reveal())
}

func TestFoldersThatTheUserCannotReachAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	_, err := release.Open(filepath.Join(dir, "releases"), release.Options{Architecture: "amd64", Now: time.Now, User: other})
	require.ErrorContains(t, err, "user 65533, which the OpenShift installer runs as, cannot pass through "+filepath.Dir(dir))
	require.ErrorContains(t, err, "INSTALLER_USER")
}

// What an installer leaves in its folder must not lead the service out of it, or stop it.
func TestFilesOfTheInstallerAreNotFollowedToTheOutside(t *testing.T) {
	t.Parallel()
	const put = `[ "$2" = ignition-configs ] || exit 0; cd "$4"; mkdir auth; for f in bootstrap.ign master.ign worker.ign metadata.json auth/kubeconfig auth/kubeadmin-password; do echo "{}" > $f; done; `
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("key of the service"), 0o600))
	for name, c := range map[string]struct{ script, want string }{
		"a link to a file":      {put + "ln -sf " + secret + " bootstrap.ign", "collect bootstrap.ign of installer"},
		"a link upwards":        {put + "ln -sf ../../../../../../../../etc/passwd master.ign", "collect master.ign of installer"},
		"a pipe":                {put + "rm metadata.json; mkfifo metadata.json", "require a file, found p"},
		"a folder":              {put + "rm worker.ign; mkdir worker.ign", "require a file, found d"},
		"a link to a folder":    {`ln -s ` + outside + ` "$4/openshift"`, "add manifest"},
		"a file that is a link": {`mkdir "$4/openshift"; ln -s ` + secret + ` "$4/openshift/mine.yaml"; exit 5`, "exit status 5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, payload.Options{}, "/bin/sh", "-c", c.script, "installer")
			r, _ := open(t, p, nil)
			_, err := installer(t, r, p.ReleaseImage("4.20.33")).Generate(t.Context(), release.GenerateInput{
				InstallConfig: installConfig(t, 3, 0), Manifests: map[string][]byte{"openshift/mine.yaml": []byte("kind: ConfigMap\n")},
			})
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "key of the service")
			data, err := os.ReadFile(secret)
			require.NoError(t, err)
			require.Equal(t, "key of the service", string(data))
			require.NoFileExists(t, filepath.Join(outside, "mine.yaml"))
		})
	}
}

func TestUsersAreReadAsNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*release.User{
		"": nil, "0": nil, "0:0": nil, "65533": {UID: 65533, GID: 65533}, "1001:1002": {UID: 1001, GID: 1002},
	} {
		got, err := release.ParseUser(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, bad := range []string{"no user", "-1", "1:", "1:x", "4294967295", "1:0"} {
		_, err := release.ParseUser(bad)
		require.ErrorIs(t, err, model.ErrInvalid, bad)
		require.True(t, strings.Contains(err.Error(), "found"), bad)
	}
}
