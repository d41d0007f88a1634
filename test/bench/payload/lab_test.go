package payload_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coreos/ignition/v2/config/v3_5"
	"github.com/stretchr/testify/require"
	"github.com/vincent-petithory/dataurl"

	"slipway/test/bench/coreos"
	"slipway/test/bench/netlab"
	"slipway/test/bench/payload"
)

const (
	gateway = "10.88.0.1"
	domain  = "bench.bench.example"
)

// lab is a network of hosts without machines: each has namespaces and a root of its own,
// and runs what an Ignition config says.
type lab struct {
	*netlab.Space
	dir      string
	built    payload.Built
	settings string // file
	// api is where the name of the API leads.
	api netip.Addr
}

func newLab(t *testing.T) *lab {
	t.Helper()
	if !*hosts {
		t.Skip("SKIP: clusters on hosts in namespaces are brought up by make bench-kube")
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIP: hosts in namespaces need root")
	}
	kube := programs(t)
	l := &lab{Space: netlab.NewSpace(t, "lan"), dir: t.TempDir()}
	require.NoError(t, l.All("link add br0 type bridge", "addr add "+gateway+"/24 dev br0", "link set br0 up"))
	var err error
	l.built, err = payload.Build(t.Context(), filepath.Join(l.dir, "built"))
	require.NoError(t, err)
	files := map[string]string{"kube.tar.zst": kube, "bench.tar.zst": l.built.Archive}
	var archives []map[string]string
	routes := http.NewServeMux()
	for name, path := range files {
		sum, err := payload.Sum(path)
		require.NoError(t, err)
		archives = append(archives, map[string]string{"url": "http://" + gateway + ":8000/" + name, "sha256": sum})
		routes.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) })
	}
	server := &http.Server{Handler: routes, ReadHeaderTimeout: time.Minute}
	go server.Serve(l.Listen(t, "tcp", gateway+":8000"))
	t.Cleanup(func() { _ = server.Close() })
	l.settings = filepath.Join(l.dir, "settings.json")
	text, err := json.Marshal(
		map[string]any{"archives": archives, "version": "4.20.5", "images": map[string]string{"bench-job": "/usr/bin/env"}},
	)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(l.settings, text, 0o600))
	return l
}

// Hosts in namespaces take minutes, and archives that take more to build.
var (
	hosts = flag.Bool("hosts", false, "bring up whole clusters on hosts in namespaces (make bench-kube)")
	kube  = flag.String("kube", "", "archive of the programs of hosts; what test/bench/coreos/buildkube made last when empty")
)

// programs returns the archive with the programs of hosts.
func programs(t *testing.T) string {
	t.Helper()
	if *kube != "" {
		return *kube
	}
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	path, err := coreos.FindKube(coreos.Dir(cache), coreos.KubeOptions{Source: "../kube"})
	if err != nil {
		t.Skip("SKIP: the programs of a cluster's hosts are not built, or their sources have changed since (make bench-kube)")
	}
	return path
}

// generate runs the bench's installer as the service does, and returns its folder.
func (l *lab) generate(t *testing.T, installConfig, command string, more map[string]string) string {
	t.Helper()
	dir := filepath.Join(l.dir, "assets")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "install-config.yaml"), []byte(installConfig), 0o600))
	for _, words := range [][]string{{"create", "manifests"}, {"create", command}} {
		cmd := exec.Command(l.built.Installer, append(append([]string{"--settings", l.settings}, words...), "--dir", dir)...)
		cmd.Env = []string{"OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE=" + gateway + ":5000/release:4.20.5-x86_64"}
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", output)
		if words[1] == "manifests" {
			for name, text := range more {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
		}
	}
	return dir
}

// host is one in the lab.
type host struct {
	lab     *lab
	space   *netlab.Space
	name    string
	address netip.Addr
	root    string // its disk
	boot    *exec.Cmd
}

func (l *lab) host(t *testing.T, name string, number int) *host {
	t.Helper()
	h := &host{lab: l, space: netlab.NewSpace(t, name), name: name, address: netip.AddrFrom4([4]byte{10, 88, 0, byte(10 + number)})}
	cable := fmt.Sprint("h", number)
	require.NoError(
		t,
		l.All("link add "+cable+" type veth peer name eth0 netns "+h.space.Name, "link set "+cable+" master br0", "link set "+cable+" up"),
	)
	require.NoError(t, h.space.All("addr add "+h.address.String()+"/24 dev eth0", "link set eth0 up", "route add default via "+gateway))
	return h
}

// install gives the host an empty disk with what the config holds.
func (h *host) install(t *testing.T, config []byte, suffix string) {
	t.Helper()
	h.root = filepath.Join(h.lab.dir, h.name+suffix)
	for _, dir := range []string{"etc/systemd/system", "local/bin"} {
		require.NoError(t, os.MkdirAll(filepath.Join(h.root, dir), 0o755))
	}
	h.write(t, "/etc/passwd", "root:x:0:0::/root:/bin/sh\n")
	h.write(t, "/etc/nsswitch.conf", "hosts: files\n")
	script, err := os.ReadFile("testdata/systemctl.sh")
	require.NoError(t, err)
	h.write(t, "/usr/local/bin/systemctl", string(script))
	require.NoError(t, os.Chmod(h.path("/usr/local/bin/systemctl"), 0o755))

	parsed, report, err := v3_5.ParseCompatibleVersion(config)
	require.NoError(t, err, report.String())
	for _, f := range parsed.Storage.Files {
		if f.Contents.Source == nil {
			continue
		}
		content := unpack(t, *f.Contents.Source, f.Contents.Compression)
		h.write(t, f.Path, content)
		require.NoError(t, os.Chmod(h.path(f.Path), os.FileMode(*f.Mode)))
	}
	for _, u := range parsed.Systemd.Units {
		h.write(t, "/etc/systemd/system/"+u.Name, *u.Contents)
	}
}

func unpack(t *testing.T, source string, compression *string) string {
	t.Helper()
	data, err := dataurl.DecodeString(source)
	require.NoError(t, err)
	require.Empty(t, cmp.Or(compression, new(string)), "no compressed contents are expected")
	return string(data.Data)
}

// path returns where a file of the host is: /usr/local is a folder of its own.
func (h *host) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "/usr/local/"); ok {
		return filepath.Join(h.root, "local", rest)
	}
	return filepath.Join(h.root, name)
}

func (h *host) write(t *testing.T, name, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(h.path(name)), 0o755))
	require.NoError(t, os.WriteFile(h.path(name), []byte(content), 0o644))
}

// resolve shows the host where the API and the router are.
func (h *host) resolve(t *testing.T, api netip.Addr) {
	t.Helper()
	h.write(
		t,
		"/etc/hosts",
		fmt.Sprintf(
			"127.0.0.1 localhost\n%s %s\n%s api.%s api-int.%s\n%s console-openshift-console.apps.%s "+
				"canary-openshift-ingress-canary.apps.%s\n",
			h.address,
			h.name,
			api,
			domain,
			domain,
			api,
			domain,
			domain,
		),
	)
}

// start boots the host with a command of systemctl; end it by off.
func (h *host) start(t *testing.T, words ...string) {
	t.Helper()
	log := filepath.Join(h.lab.dir, h.name+".log")
	args := append(
		[]string{
			"--fork",
			"--pid",
			"--mount",
			"--uts",
			"--kill-child",
			"sh",
			"testdata/host.sh",
			h.root,
			h.name,
			"/usr/local/bin/systemctl",
		},
		words...)
	t.Cleanup(func() { h.tellLogs(t) })
	h.boot = h.space.Start(t, log, nil, "unshare", args...)
	t.Cleanup(h.off)
}

// tellLogs shows the ends of the host's logs when the test has failed.
func (h *host) tellLogs(t *testing.T) {
	if !t.Failed() {
		return
	}
	files, _ := filepath.Glob(filepath.Join(h.root, "var/log/*.log"))
	containers, _ := filepath.Glob(filepath.Join(h.root, "var/log/pods/*/*/*.log"))
	files = append(files, containers...)
	for _, file := range files {
		content, _ := os.ReadFile(file)
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		t.Logf("%s:\n%s", strings.TrimPrefix(file, h.lab.dir), strings.Join(lines[max(0, len(lines)-12):], "\n"))
	}
}

// off cuts the power.
func (h *host) off() {
	_ = h.boot.Process.Signal(syscall.SIGKILL)
	_, _ = h.boot.Process.Wait()
}

// waitFor looks until it is so; the logs of the host tell why it is not.
func (h *host) waitFor(t *testing.T, what string, limit time.Duration, is func() bool) {
	t.Helper()
	require.Eventually(t, is, limit, 500*time.Millisecond, "%s: %s", h.name, what)
}

func (h *host) has(name string) bool {
	_, err := os.Stat(h.path(name))
	return err == nil
}

// run runs a program of this machine in the host's network.
func (h *host) run(program string, args ...string) (string, error) {
	output, err := exec.Command("ip", append([]string{"netns", "exec", h.space.Name, program}, args...)...).Output()
	return string(output), err
}

// kubectl asks the API server of the host by the kubeconfig of the administrator.
func (h *host) kubectl(config string, args ...string) (string, error) {
	return h.run(filepath.Join(h.root, "opt/bench/bin/kubectl"), append([]string{
		"--kubeconfig", config, "--server", "https://" + h.address.String() + ":6443", "--request-timeout=20s",
	}, args...)...)
}
