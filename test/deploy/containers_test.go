package deploy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"slipway/internal/testing/await"
)

// containerHost is a system with podman that has a network of its own, and is called 192.0.2.2 there.
type containerHost struct{ *machine }

// bootContainerHost boots Debian 13, whose podman is the first of Debian with quadlets, with a checkout's deploy folder and the image in
// its home folder.
func bootContainerHost(t *testing.T) containerHost {
	t.Helper()
	images := need(t, "IMAGES")
	m := containerHost{&machine{root: unpack(t, "CONTAINER_TREE")}}
	// Modules are this machine's.
	require.NoError(t, os.Symlink("/dev/null", filepath.Join(m.root, "etc/systemd/system/systemd-modules-load.service")))
	// Podman has keys of the kernel and programs for control groups, which nspawn refuses as a rule.
	m.boot(t, "--private-network", "--capability=all", "--system-call-filter=@keyring bpf @mount")
	m.run(t, "sh", "-ec", `ip link add lab type bridge
		ip address add 192.0.2.2/24 dev lab
		ip link set lab up
		echo nameserver 192.0.2.1 > /etc/resolv.conf
		mkdir -p /root/dist/images /etc/containers
		# There are no controllers of version 2 here, and bridges are no business of filters.
		printf '[containers]\npids_limit=0\n' > /etc/containers/containers.conf
		test ! -e /proc/sys/net/bridge || sysctl -qw net.bridge.bridge-nf-call-iptables=0`)
	for from, to := range map[string]string{
		"../../deploy": "root/deploy", filepath.Join(images, "slipway.oci.tar"): "root/dist/images/slipway.oci.tar",
	} {
		out, err := exec.Command("cp", "-r", from, filepath.Join(m.root, to)).CombinedOutput() //nolint:gosec // the test's own paths
		require.NoError(t, err, "%s", out)
	}
	m.put(t, "root/slipway.yaml", documented(t, "The settings are in `slipway.yaml`.", `^\$ cat slipway.yaml\n`)+"release-sources: []\n")
	return m
}

func (m containerHost) put(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(m.root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644)) //nolint:gosec // settings, read by another user
}

// types runs lines of the documentation in root's home folder.
func (m containerHost) types(t *testing.T, lines string) string {
	t.Helper()
	return m.run(t, "sh", "-ec", "cd /root\n"+lines)
}

// documented returns the block of commands that follows a text in docs/containers.md, without what cut finds in it.
func documented(t *testing.T, after, cut string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/containers.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), after)
	require.True(t, found, after)
	parts := strings.Split(rest, "```")
	require.Greater(t, len(parts), 1)
	return regexp.MustCompile(cut).ReplaceAllString(strings.TrimPrefix(parts[1], "\n"), "")
}

// The lines of docs/containers.md start the quadlet under systemd and the compose file with podman-compose. Both have the same volume.
func TestDocumentedContainersStart(t *testing.T) {
	m := bootContainerHost(t)
	said := m.types(t, documented(t, "## Load an image", `(?m)^skopeo .*\n`))
	found := regexp.MustCompile(`Loaded image: (localhost/slipway:\S+)`).FindStringSubmatch(said)
	require.NotNil(t, found, said)
	m.run(t, "podman", "tag", found[1], "localhost/slipway:latest")

	m.put(t, "etc/containers/systemd/slipway.container.d/limits.conf", "[Container]\nPodmanArgs="+strings.Join(withinLimits(t), " ")+"\n")
	m.types(t, documented(t, "**Quadlet** (podman 4.9 or later), as root:", "^"))
	require.Equal(t, "active\n", m.run(t, "systemctl", "is-active", "slipway"), "a start returns when the service is ready")
	require.Contains(t, m.run(t, "systemctl", "show", "--property=StatusText", "slipway"), "API https://192.0.2.2:8090")
	commands := documented(t, "**The command line** runs in the container", `(?m)^podman (cp|exec slipway slipway doctor).*\n`)
	require.Contains(t, m.types(t, commands), "NAME", "the container reaches the address that hosts know")
	require.Contains(t, m.run(t, "podman", "exec", "slipway", "slipway", "doctor", "--ready"), "runs at 0.0.0.0:8090")
	m.run(t, "podman", "healthcheck", "run", "slipway")
	m.types(t, "podman cp slipway:/var/lib/slipway/admin.config .")
	m.put(t, "root/pull.json", `{"auths":{"r.example.com":{"auth":"YTpi"}}}`)
	m.types(t, "podman cp pull.json slipway:/var/lib/slipway/")
	m.run(t, "podman", "exec", "slipway", "slipway", "infra-env", "create", "kept", "--pull-secret", "/var/lib/slipway/pull.json")
	m.run(t, "systemctl", "restart", "slipway")
	require.Contains(t, m.run(t, "podman", "exec", "slipway", "slipway", "infra-env", "list"), "kept")
	m.run(t, "systemctl", "stop", "slipway")
	require.NotContains(t, m.run(t, "podman", "ps", "--all"), "slipway")

	m.types(t, "cp slipway.yaml deploy/")
	m.put(t, "root/deploy/compose.override.yaml", fmt.Sprintf("services: {slipway: {ulimits: {nofile: %d, core: 0}}}\n", openFiles(t)))
	compose := documented(t, "**Compose.** With `slipway.yaml` beside", `(?m)\s+#.*$`)
	m.types(t, strings.ReplaceAll(compose, "docker compose", "podman-compose"))
	await.True(t, func() bool {
		_, err := m.says("podman", "healthcheck", "run", "slipway")
		return err == nil
	}, "the service to be ready")
	require.Contains(t, m.run(t, "podman", "exec", "slipway", "slipway", "infra-env", "list"), "kept", "the volume of the quadlet")
	m.types(t, "cd deploy && podman-compose down")
	require.Contains(t, m.run(t, "podman", "volume", "ls", "--quiet"), "slipway")
}

// openFiles returns the number of the compose file, or what root of this machine may set.
func openFiles(t *testing.T) uint64 {
	t.Helper()
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	return min(limit.Max, 65536)
}
