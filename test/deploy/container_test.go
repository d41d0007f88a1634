package deploy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"golang.org/x/sys/unix"

	"slipway/test/built"
)

// engine is podman with a storage of its own, without control groups, which containers of tests may not have.
type engine struct {
	global []string
	holder int // process whose mounts podman sees
}

// newEngine returns podman. The test is skipped without it.
func newEngine(t *testing.T) *engine {
	t.Helper()
	if _, err := exec.LookPath("podman"); err != nil || os.Getuid() != 0 {
		t.Skip("SKIP: this test needs root and podman (make test-deploy)")
	}
	folder := built.Folder(t, "podman")
	e := &engine{holder: holdMounts(t), global: []string{
		"--root=" + filepath.Join(folder, "storage"), "--runroot=" + filepath.Join(folder, "run"), "--storage-driver=vfs",
		"--cgroup-manager=cgroupfs", "--events-backend=none",
	}}
	t.Cleanup(func() { _ = e.command("system", "reset", "--force").Run() })
	return e
}

// holdMounts starts a process that sees the control groups of version 2 alone, and returns its id: crun runs nothing where both versions
// are mounted ("cgroups in hybrid mode not supported").
func holdMounts(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c",
		"mount -t cgroup2 none /sys/fs/cgroup && echo mounted && exec cat")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = stdin.Close() // cat ends
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "mounted\n", line)
	return cmd.Process.Pid
}

func (e *engine) command(args ...string) *exec.Cmd {
	args = slices.Concat([]string{"--target", strconv.Itoa(e.holder), "--mount", "--", "podman"}, e.global, args)
	return exec.Command("nsenter", args...) //nolint:gosec // the test's own commands
}

// withinLimits returns flags for limits that root of this machine may set: in a container it may not raise its own.
func withinLimits(t *testing.T) []string {
	t.Helper()
	var processes unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NPROC, &processes))
	return []string{
		fmt.Sprintf("--ulimit=nofile=%d:%[1]d", openFiles(t)), fmt.Sprintf("--ulimit=nproc=%d:%[1]d", min(processes.Max, 4096)),
	}
}

// run runs podman, and returns what it prints.
func (e *engine) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := e.command(args...).CombinedOutput()
	require.NoError(t, err, "%q: %s", args, out)
	return string(out)
}

// load loads an image of make images, and gives it the name of the compose and quadlet files.
func (e *engine) load(t *testing.T, name string) {
	t.Helper()
	archive := filepath.Join(need(t, "IMAGES"), name+".oci.tar")
	said := e.run(t, "load", "--input", archive)
	found := regexp.MustCompile(`Loaded image: (\S+)`).FindStringSubmatch(said)
	require.NotNil(t, found, said)
	e.run(t, "tag", found[1], "localhost/"+name+":latest")
}

// container is a running container of the image slipway, started as its quadlet file says.
type container struct {
	*engine
	name, volume string
	settings     string // the file that is mounted as /etc/slipway/slipway.yaml
}

// start starts the container, and returns when it has notified systemd, which the test stands in for (sd_notify(3)).
func (c *container) start(t *testing.T) {
	t.Helper()
	socket := filepath.Join(filepath.Dir(c.settings), "notify")
	listener, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	defer os.Remove(socket)
	cmd := c.command(slices.Concat([]string{"run", "--detach", "--log-driver=k8s-file", "--cgroups=disabled", "--network=host"},
		quadlet(t, c), withinLimits(t), []string{"localhost/slipway:latest"})...)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := c.command("logs", "--tail=80", c.name).CombinedOutput()
			t.Logf("%s", log)
		}
		_ = c.command("rm", "--force", "--time=30", c.name).Run()
	})
	message := make([]byte, 4096)
	require.NoError(t, listener.SetReadDeadline(time.Now().Add(10*time.Minute)))
	for {
		n, err := listener.Read(message)
		require.NoError(t, err, "the service did not report that it is ready")
		if bytes.Contains(message[:n], []byte("READY=1")) {
			return
		}
	}
}

// slipway runs a command of Slipway in the container.
func (c *container) slipway(t *testing.T, args ...string) string {
	t.Helper()
	return c.run(t, append([]string{"exec", c.name, "slipway"}, args...)...)
}

// keys are the keys of quadlet files that the files here have, with the flags that podman's generator makes of them
// (podman-systemd.unit(5)); those without a flag are about systemd or the network of the test.
var keys = map[string]string{
	"ContainerName": "--name", "Volume": "--volume", "ReadOnly": "--read-only", "Tmpfs": "--tmpfs", "DropCapability": "--cap-drop",
	"NoNewPrivileges": "--security-opt", "Notify": "--sdnotify", "PodmanArgs": "", "Image": "", "AutoUpdate": "", "PublishPort": "",
	"HealthCmd": "--health-cmd", "HealthInterval": "--health-interval", "HealthTimeout": "--health-timeout",
	"HealthStartPeriod": "--health-start-period", "VolumeName": "",
}

// pairs returns the pairs of a section of a unit file.
func pairs(t *testing.T, file, section string) (all [][2]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	inside := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = line == "["+section+"]"
		}
		key, value, pair := strings.Cut(line, "=")
		if inside && pair && !strings.HasPrefix(line, "#") {
			all = append(all, [2]string{key, value})
		}
	}
	require.NotEmpty(t, all, "%s has no section %s", file, section)
	return all
}

// quadlet returns the flags of deploy/quadlet/slipway.container, with the files and names of the test.
func quadlet(t *testing.T, c *container) (args []string) {
	t.Helper()
	for _, pair := range pairs(t, "../../deploy/quadlet/slipway.container", "Container") {
		key, value := pair[0], pair[1]
		flag, known := keys[key]
		require.True(t, known, "the key %s", key)
		switch {
		case key == "PodmanArgs":
			require.Contains(t, value, "--ulimit=nofile=65536:65536")
			args = append(args, strings.Fields(strings.Replace(value, "--ulimit=nofile=65536:65536", "", 1))...)
		case flag == "" || strings.HasPrefix(key, "Health"): // checks are started by timers of systemd
		case key == "ContainerName":
			args = append(args, flag+"="+c.name)
		case key == "NoNewPrivileges":
			args = append(args, flag+"=no-new-privileges")
		case key == "Notify":
			args = append(args, flag+"=container")
		case key == "Volume":
			value = strings.Replace(value, "slipway.volume:", c.volume+":", 1)
			args = append(args, flag+"="+strings.Replace(value, "/etc/slipway/slipway.yaml:", c.settings+":", 1))
		default:
			args = append(args, flag+"="+value)
		}
	}
	return args
}

func TestQuadletFilesHaveKeysThatPodmanKnows(t *testing.T) {
	t.Parallel()
	for file, section := range map[string]string{"slipway.container": "Container", "slipway.volume": "Volume"} {
		for _, pair := range pairs(t, "../../deploy/quadlet/"+file, section) {
			require.Contains(t, keys, pair[0])
			require.NotEmpty(t, pair[1])
		}
	}
}

// The two files start the service in the same way.
func TestComposeFileSaysWhatTheQuadletSays(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/compose.yaml")
	require.NoError(t, err)
	var file struct {
		Services map[string]struct {
			Image, User string
			ReadOnly    bool     `yaml:"read_only"`
			CapDrop     []string `yaml:"cap_drop"`
			SecurityOpt []string `yaml:"security_opt"`
			Ports       []string
			Volumes     []string
			Tmpfs       []string
			Healthcheck struct{ Test []string }
		}
		Volumes map[string]any
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	compose := file.Services["slipway"]
	unit := map[string][]string{}
	for _, pair := range pairs(t, "../../deploy/quadlet/slipway.container", "Container") {
		unit[pair[0]] = append(unit[pair[0]], pair[1])
	}
	require.True(t, compose.ReadOnly)
	require.Equal(t, []string{"true"}, unit["ReadOnly"])
	require.Equal(t, []string{"ALL"}, compose.CapDrop)
	require.Equal(t, []string{"all"}, unit["DropCapability"])
	require.Equal(t, []string{"no-new-privileges:true"}, compose.SecurityOpt)
	require.Equal(t, []string{"true"}, unit["NoNewPrivileges"])
	require.Equal(t, unit["Tmpfs"], compose.Tmpfs)
	require.Equal(t, unit["HealthCmd"], []string{strings.Join(compose.Healthcheck.Test[1:], " ")})
	require.Contains(t, compose.Image, unit["Image"][0])
	require.Contains(t, compose.Volumes, "data:/var/lib/slipway")
	require.Contains(t, unit["Volume"], "slipway.volume:/var/lib/slipway")
	require.Contains(t, file.Volumes, "data")
}

// The image runs as its quadlet file says: its service is ready, confined, keeps what it has over a restart, and is backed up.
func TestServiceInAContainer(t *testing.T) {
	e := newEngine(t)
	e.load(t, "slipway")
	folder := built.Folder(t, "container")
	c := &container{engine: e, name: "slipway-" + strconv.Itoa(os.Getpid()), volume: "data", settings: filepath.Join(folder, "slipway.yaml")}
	address := built.FreeAddress(t)
	settings := "listen: " + address + "\ntemporal-port: " + strconv.Itoa(built.FreePorts(t, 4)) + "\nrelease-sources: []\n" +
		"installer-sandbox: required\n"
	require.NoError(t, os.WriteFile(c.settings, []byte(settings), 0o644)) //nolint:gosec // no secrets, and read by another user
	c.start(t)

	c.requireConfined(t)
	require.Contains(t, c.slipway(t, "cluster", "list"), "NAME")
	require.Contains(t, c.slipway(t, "doctor", "--ready"), "runs at "+address)
	require.Contains(t, c.slipway(t, "config", "check"), "settings are in order")
	log := c.run(t, "logs", c.name)
	require.NotContains(t, log, "without a sandbox", "the filter of podman lets the installer have one")
	require.NotContains(t, log, "level=ERROR")
	require.NotContains(t, log, "eyJ", "no token")

	c.slipway(t, "infra-env", "create", "kept", "--pull-secret", c.put(t, "pull.json", `{"auths":{"r.example.com":{"auth":"YTpi"}}}`))
	c.put(t, "passphrase", "correct horse battery\n")
	said := c.slipway(t, "backup", "--backup-to", "/var/lib/slipway/backups", "--backup-passphrase-file", "/var/lib/slipway/passphrase")
	require.Regexp(t, `slipway-\d{8}T\d{6}Z\.age: \d+ files and \d+ objects, .*; read back\n$`, said)

	c.run(t, "stop", "--time=30", c.name)
	c.run(t, "rm", c.name)
	c.start(t)
	require.Contains(t, c.slipway(t, "infra-env", "list"), "kept")
}

// put writes a file of the user of the service into the volume, and returns its path in the container.
func (c *container) put(t *testing.T, name, content string) string {
	t.Helper()
	folder := strings.TrimSpace(c.run(t, "volume", "inspect", "--format={{.Mountpoint}}", c.volume))
	path := filepath.Join(folder, name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	require.NoError(t, os.Chown(path, 65532, 65532))
	return "/var/lib/slipway/" + name
}

// requireConfined checks what the kernel says of the process (proc(5)): no root, no capability, no way to one, and a read-only root.
func (c *container) requireConfined(t *testing.T) {
	t.Helper()
	var found []struct{ State struct{ Pid int } }
	require.NoError(t, json.Unmarshal([]byte(c.run(t, "inspect", c.name)), &found))
	folder := filepath.Join("/proc", strconv.Itoa(found[0].State.Pid))
	status, err := os.ReadFile(filepath.Join(folder, "status"))
	require.NoError(t, err)
	for _, line := range []string{
		"Uid:\t65532\t65532\t65532\t65532", "Gid:\t65532\t65532\t65532\t65532", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000",
		"NoNewPrivs:\t1", "Seccomp:\t2",
	} {
		require.Contains(t, string(status), line)
	}
	mounts, err := os.ReadFile(filepath.Join(folder, "mountinfo"))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^\d+ \d+ \S+ \S+ / ro,`, string(mounts))
	out, err := c.command("exec", c.name, "sh", "-c", "echo x > /usr/bin/new").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "Read-only file system")
}

// The replica has no database, and says so.
func TestReplicaInAContainer(t *testing.T) {
	e := newEngine(t)
	e.load(t, "slipway-replica")
	run := func(command string) (string, error) {
		out, err := e.command(slices.Concat(
			[]string{"run", "--rm", "--log-driver=k8s-file", "--cgroups=disabled", "--network=none", "--read-only", "--cap-drop=all"},
			withinLimits(t), []string{"localhost/slipway-replica:latest", command})...).CombinedOutput()
		return string(out), err
	}
	said, err := run("version")
	require.NoError(t, err, said)
	require.Contains(t, said, "slipway")
	said, err = run("up")
	require.Error(t, err)
	require.Contains(t, said, "no PostgreSQL server programs found")
}

// Two builds of one commit have one digest: make test-deploy builds the images twice.
func TestImagesAreReproducible(t *testing.T) {
	t.Parallel()
	first, second := need(t, "IMAGES"), need(t, "IMAGES_AGAIN")
	for _, name := range []string{"slipway", "slipway-replica"} {
		index, err := os.ReadFile(filepath.Join(first, name, "index.json"))
		require.NoError(t, err)
		again, err := os.ReadFile(filepath.Join(second, name, "index.json"))
		require.NoError(t, err)
		require.JSONEq(t, string(index), string(again))
	}
}
