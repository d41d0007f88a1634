package deploy_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/test/built"
)

// machine is a Debian system in a container.
type machine struct {
	root   string
	leader int // process id of its systemd, here
}

// need returns a file that make prepares. The test is skipped without it.
func need(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if _, err := os.Stat(path); path == "" || err != nil {
		t.Skip("SKIP: this test needs " + variable + " (make test-deploy)")
	}
	return path
}

// unpack makes the root tree of a Debian system from the tar file that a variable names.
func unpack(t *testing.T, variable string) string {
	t.Helper()
	tree := need(t, variable)
	root := filepath.Join(built.Folder(t, "deploy"), "root")
	require.NoError(t, os.Mkdir(root, 0o755))
	out, err := exec.Command("tar", "-C", root, "-xf", tree).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return root
}

// boot starts a Debian system on this machine's network, with programs of this machine that it sees by their paths.
func boot(t *testing.T, programs ...string) *machine {
	t.Helper()
	m := &machine{root: unpack(t, "DEBIAN_TREE")}
	var args []string
	for _, program := range programs {
		args = append(args, "--bind-ro="+program)
	}
	m.boot(t, args...)
	return m
}

// boot starts the system of a root tree.
func (m *machine) boot(t *testing.T, more ...string) {
	t.Helper()
	if _, err := exec.LookPath("systemd-nspawn"); err != nil || os.Getuid() != 0 {
		t.Skip("SKIP: this test needs root and systemd-nspawn (make test-deploy)")
	}
	args := append([]string{
		"--register=no", "--keep-unit", "--quiet", "--boot", "--resolv-conf=off", "--directory=" + m.root,
		"--machine=" + filepath.Base(filepath.Dir(m.root)),
	}, more...)
	nspawn := exec.Command("systemd-nspawn", args...)
	nspawn.Env = append(os.Environ(), "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1") // the only one of newer systems
	nspawn.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	console := &bytes.Buffer{}
	nspawn.Stdout, nspawn.Stderr = console, console
	require.NoError(t, nspawn.Start())
	t.Cleanup(func() {
		_ = nspawn.Process.Signal(syscall.SIGTERM) // systemd powers off
		late := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-nspawn.Process.Pid, syscall.SIGKILL) })
		_ = nspawn.Wait()
		late.Stop()
		if t.Failed() {
			t.Logf("%s", console)
		}
	})
	children := fmt.Sprintf("/proc/%d/task/%[1]d/children", nspawn.Process.Pid)
	await.True(t, func() bool {
		list, _ := os.ReadFile(children)
		pid, _, _ := bytes.Cut(list, []byte(" "))
		m.leader, _ = strconv.Atoi(string(pid))
		if m.leader == 0 {
			return false
		}
		state, _ := m.command("systemctl", "is-system-running").Output()
		return strings.TrimSpace(string(state)) == "running"
	}, "systemd to have started")
	t.Cleanup(func() {
		if t.Failed() {
			journal, _ := m.command("journalctl", "--no-pager", "--lines", "80", "--unit", "slipway").CombinedOutput()
			t.Logf("%s", journal)
		}
	})
}

// command makes a command that runs in the machine, as root.
func (m *machine) command(args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{ //nolint:gosec // the test's own commands
		"--target", strconv.Itoa(m.leader), "--mount", "--uts", "--ipc", "--pid", "--net", "--cgroup", "--root", "--wd",
		"--", "env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8",
	}, args...)...)
}

// run runs a command in the machine, and returns what it prints.
func (m *machine) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := m.command(args...).CombinedOutput()
	require.NoError(t, err, "%q: %s", args, out)
	return string(out)
}

// says runs a command that may fail, and returns what it prints.
func (m *machine) says(args ...string) (string, error) {
	out, err := m.command(args...).CombinedOutput()
	return string(out), err
}

// fails runs a command that has to fail, and returns what it prints.
func (m *machine) fails(t *testing.T, args ...string) string {
	t.Helper()
	out, err := m.command(args...).CombinedOutput()
	require.Error(t, err, "%q: %s", args, out)
	return string(out)
}

// write writes a file of the machine.
func (m *machine) write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(m.root, path), []byte(content), 0o600))
}

// copyOf puts a file of this machine into the other one's /root, and returns its path there.
func (m *machine) copyOf(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	there := "/root/" + filepath.Base(path)
	m.write(t, there, string(content))
	return there
}

// files lists the files and folders of a root tree, without the data of the package managers and of systemd's own, and what programs
// write anywhere.
func files(t *testing.T, root string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, root)
		for _, elsewhere := range []string{
			"/proc", "/sys", "/dev", "/run", "/tmp", "/root", "/var/tmp", "/var/log", "/var/cache", "/var/lib/dpkg", "/var/lib/rpm",
			"/var/lib/systemd", "/var/lib/private",
		} {
			if name == elsewhere {
				return filepath.SkipDir
			}
		}
		if entry.IsDir() {
			name += "/"
		}
		all = append(all, name)
		return nil
	}))
	return all
}
