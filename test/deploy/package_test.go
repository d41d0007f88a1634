package deploy_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/sim"
	"slipway/internal/sim/payload"
	"slipway/test/built"
)

const release = "4.20.5"

// A person installs the package, does the three steps that it prints, and installs a single node; the package is upgraded while a second
// one installs, and purged.
func TestServerFromADebianPackage(t *testing.T) {
	first, newer := need(t, "DEB"), need(t, "DEB_NEWER")
	demo := built.Demo(t)
	m := boot(t, demo)
	before := files(t, m.root)

	said := m.run(t, "dpkg", "--install", m.copyOf(t, first))
	require.Contains(t, said, "Slipway is installed. Next, as root:\n  1. Name an address of this machine that hosts reach, in "+
		"/etc/slipway/slipway.yaml:  listen: 192.0.2.2:8090\n  2. systemctl enable --now slipway\n  3. slipway doctor ")
	require.Contains(t, m.fails(t, "systemctl", "is-active", "slipway"), "inactive", "before its administrator has said where it listens")
	require.Equal(t, "750 root slipway\n", m.run(t, "stat", "--format", "%a %U %G", "/etc/slipway"))
	require.Equal(t, "640 root slipway\n", m.run(t, "stat", "--format", "%a %U %G", "/etc/slipway/slipway.yaml"))
	require.Contains(t, m.run(t, "bash", "-c", ". /usr/share/bash-completion/completions/slipway; complete -p slipway"), "/usr/bin/slipway")
	require.Contains(t, m.run(t, "zcat", "/usr/share/man/man1/slipway.1.gz"), ".TH SLIPWAY 1")

	s := serve(t, demo)
	m.configure(t, s)
	require.Contains(t, m.run(t, "slipway", "config", "check"), "settings are in order: flags and variables, and /etc/slipway/slipway.yaml")
	m.run(t, "systemctl", "enable", "--now", "slipway") // Type=notify: it returns when the service is ready
	require.Contains(t, m.run(t, "systemctl", "status", "--no-pager", "slipway"), `Status: "API https://`+s.address)
	said, _ = m.says("slipway", "doctor") // the machine of the test may have little disk, and has no internet
	require.Contains(t, said, "ok       service         runs at "+s.address)
	require.Contains(t, said, "warning  address         hosts get https://"+s.address+", which only this machine reaches")
	require.Contains(t, said, "ok       certificate     /var/lib/slipway/tls/server.pem is for 127.0.0.1")
	require.Contains(t, said, " open files      the limit of the service is ", "a container may have fewer than the unit asks for")
	require.Contains(t, m.run(t, "slipway", "cluster", "list"), "NAME")
	require.Regexp(t, `(?m)^[0-9a-f]{8} `, m.run(t, "slipway", "keys", "list"), "root reaches the database of another user")
	m.requireConfined(t)

	m.define(t, s, "one", "192.168.116.21/24", "0")
	m.run(t, "slipway", "cluster", "install", "one", "--wait", "--timeout", "20m")
	require.Contains(t, m.run(t, "slipway", "cluster", "credentials", "one"), "kubeadmin")
	m.requireConfined(t)

	m.write(t, "/root/passphrase", "correct horse battery\n")
	said = m.run(t, "slipway", "backup", "--backup-to", "/root/backups", "--backup-passphrase-file", "/root/passphrase")
	require.Regexp(t, `^slipway-\d{8}T\d{6}Z\.age: \d+ files and \d+ objects, .*; read back\n$`, said)

	m.define(t, s, "two", "192.168.116.22/24", "60") // slow enough to be met
	m.run(t, "slipway", "cluster", "install", "two")
	m.run(t, "slipway", "wait", "cluster", "two", "--for", "installing", "--timeout", "20m")
	process := m.run(t, "systemctl", "show", "--property", "MainPID", "slipway")
	m.write(t, "/etc/slipway/environment", "NO_PROXY=example.com\n")
	said = m.run(t, "dpkg", "--install", m.copyOf(t, newer))
	require.NotContains(t, said, "Next, as root", "only once")
	require.NotEqual(t, process, m.run(t, "systemctl", "show", "--property", "MainPID", "slipway"), "the newer one runs")
	require.Contains(t, m.run(t, "cat", "/etc/slipway/slipway.yaml"), s.address, "settings stay")
	m.run(t, "slipway", "wait", "cluster", "two", "--for", "installed", "--timeout", "20m")
	for _, name := range []string{"one", "two"} {
		require.Equal(t, 1, s.writes(t, name), "image writes of the host of %s", name)
	}

	m.run(t, "systemctl", "stop", "slipway")
	require.Empty(t, m.processes(t), "PostgreSQL ends with the service")
	m.run(t, "systemctl", "start", "slipway")
	m.run(t, "dpkg", "--remove", "slipway")
	require.Empty(t, m.processes(t))
	require.FileExists(t, filepath.Join(m.root, "etc/slipway/slipway.yaml"), "until it is purged")
	said = m.run(t, "dpkg", "--purge", "slipway")
	require.Contains(t, said, "clusters, keys and images stay in /var/lib/slipway, with the user slipway")
	left := slices.DeleteFunc(files(t, m.root), func(name string) bool {
		return slices.Contains(before, name) || strings.HasPrefix(name, "/var/lib/slipway/")
	})
	// Copies that useradd and systemd-sysusers make of what they change.
	left = slices.DeleteFunc(left, func(name string) bool { return strings.HasPrefix(name, "/etc/") && strings.HasSuffix(name, "-") })
	require.Empty(t, left)
	require.FileExists(t, filepath.Join(m.root, "var/lib/slipway/keys"))
}

// The contents and scripts of the RPM, by rpm in a tree of its own.
func TestServerFromAnRPM(t *testing.T) {
	path := need(t, "RPM")
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("SKIP: this test needs rpm (make test-deploy)")
	}
	root := unpack(t, "DEBIAN_TREE")
	before := files(t, root)
	rpm := func(args ...string) string {
		out, err := exec.Command("rpm", append([]string{"--root", root}, args...)...).CombinedOutput()
		require.NoError(t, err, "%q: %s", args, out)
		return string(out)
	}
	rpm("--initdb")
	// The tree has Debian's packages, which rpm does not know.
	require.Contains(t, rpm("--install", "--nodeps", "--force-debian", path), "Slipway is installed. Next, as root:")
	for _, file := range []string{
		"usr/bin/slipway", "usr/lib/slipway/slipway-agent-amd64", "usr/lib/slipway/slipway-controller-arm64",
		"usr/lib/systemd/system/slipway.service", "usr/share/licenses/slipway/LICENSE", "etc/slipway/slipway.yaml",
	} {
		require.FileExists(t, filepath.Join(root, file))
	}
	require.Contains(t, rpm("--query", "--requires", "slipway"), "postgresql-server >= 13")
	users, err := os.ReadFile(filepath.Join(root, "etc/passwd"))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^slipway:x:\d+:\d+:Slipway:/var/lib/slipway:/usr/sbin/nologin$`, string(users))
	rpm("--erase", "--force-debian", "slipway")
	left := slices.DeleteFunc(files(t, root), func(name string) bool { return slices.Contains(before, name) || strings.HasSuffix(name, "-") })
	require.Equal(t, []string{"/etc/slipway/", "/etc/slipway/slipway.yaml", "/usr/share/licenses/"}, left, "settings stay: rpm has no purge")
}

// site has the releases that the service of a machine offers, and the machines that it installs.
type site struct {
	demo, address string
	registry      *payload.Payload
	pullSecret    string
	folder        string
}

// serve serves a release on this machine.
func serve(t *testing.T, demo string) *site {
	t.Helper()
	s := &site{demo: demo, address: built.FreeAddress(t), folder: built.Folder(t, "site")}
	var err error
	s.registry, err = payload.Serve(t.Context(), payload.Options{
		Versions: []string{release}, Architecture: runtime.GOARCH, InstallerCommand: []string{demo, "installer"},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.registry.Close() })
	auth := base64.StdEncoding.EncodeToString([]byte("site:secret"))
	s.pullSecret = fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, s.registry.Address(), auth)
	return s
}

// configure edits the settings file: the address as the package says, and the releases of the site.
func (m *machine) configure(t *testing.T, s *site) {
	t.Helper()
	offers, err := json.Marshal([]openshift.Release{{
		Version: release, DisplayName: release, CPUArchitectures: []string{"x86_64"}, SupportLevel: "production", Default: true,
		Image: s.registry.ReleaseImage(release),
	}})
	require.NoError(t, err)
	for name, value := range map[string]string{
		"listen": s.address, "temporal-port": strconv.Itoa(built.FreePorts(t, 4)), "insecure-registry": s.registry.Address(),
		"release-images": string(offers), "installer-paths": s.demo, "installer-sandbox": "required",
	} {
		m.run(t, "sed", "-i", "s|^#"+name+":.*|"+name+": "+value+"|", "/etc/slipway/slipway.yaml")
	}
}

// define makes a cluster of one node by the command line, and boots the node. Speed is how much faster than real time the node is; 0:
// nothing takes time.
func (m *machine) define(t *testing.T, s *site, name, address, speed string) {
	t.Helper()
	m.write(t, "/root/pull.json", s.pullSecret)
	m.run(t, "slipway", "cluster", "create", name, "--base-domain", "example.com", "--pull-secret", "/root/pull.json", "--control-plane", "1")
	folder := filepath.Join(s.folder, name)
	require.NoError(t, os.Mkdir(folder, 0o755))
	ignition := filepath.Join(folder, "discovery.ign")
	require.NoError(t, os.WriteFile(ignition, []byte(m.run(t, "slipway", "infra-env", "ignition", name+"_infra-env")), 0o600))
	id := strings.TrimSpace(m.run(t, "slipway", "cluster", "show", name, "-o", "jsonpath={.id}"))
	in := func(name string) string { return filepath.Join(folder, name) }
	for part, args := range map[string][]string{
		"cluster":    {"--name", name, "--domain", "example.com", "--control-plane", "1", "--version", release},
		"controller": {"--ignition", ignition, "--cluster-id", id},
		"machine":    {"--ignition", ignition, "--name", name + "-0", "--shape", "single-node", "--address", address},
	} {
		cmd := exec.Command(s.demo, append([]string{part, "--root", in(part), "--site", in("site"), "--speed", speed}, args...)...)
		log, err := os.Create(in(part + ".log"))
		require.NoError(t, err)
		cmd.Stdout, cmd.Stderr = log, log
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait()
			_ = log.Close()
			if t.Failed() {
				text, _ := os.ReadFile(log.Name())
				t.Logf("%s of %s: %s", part, name, text[max(0, len(text)-3000):])
			}
		})
	}
	m.run(t, "slipway", "wait", "cluster", name, "--for", "ready", "--timeout", "20m")
}

// writes counts how often the disk of the host of a cluster was written.
func (s *site) writes(t *testing.T, name string) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(s.folder, name, "machine", sim.LogFile))
	require.NoError(t, err)
	return strings.Count(string(log), `"image-write-started"`)
}

// processes lists the processes of the user slipway.
func (m *machine) processes(t *testing.T) string {
	t.Helper()
	out, _ := m.command("ps", "-o", "pid,args", "-u", "slipway", "--no-headers").Output() // fails where there are none
	return string(out)
}

// requireConfined checks that the service is not root, and that its journal has neither tokens nor complaints.
func (m *machine) requireConfined(t *testing.T) {
	t.Helper()
	require.Contains(t, m.processes(t), "/usr/bin/slipway up")
	require.Contains(t, m.processes(t), "postgres", "of the same user")
	journal := m.run(t, "journalctl", "--no-pager", "--output", "cat", "--unit", "slipway")
	require.NotContains(t, journal, "eyJ", "no token")
	require.NotContains(t, journal, "level=ERROR")
	require.NotContains(t, journal, "without a sandbox")
}
