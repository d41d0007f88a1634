package manifests_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/stretchr/testify/require"
	"github.com/vincent-petithory/dataurl"
	"sigs.k8s.io/yaml"

	"slipway/internal/hostconfig/manifests"
	"slipway/internal/testing/await"
)

// systemDNS are the lines of /etc/dnsmasq.conf that count on RHEL 9, and so on CoreOS of 4.13 and later: the package
// binds to the loopback interface and reads the folder /etc/dnsmasq.d (dnsmasq 2.85 of CentOS Stream 9).
const systemDNS = "interface=lo\nbind-interfaces\nconf-dir=%s/etc/dnsmasq.d,.rpmnew,.rpmsave,.rpmorig\n"

// dnsHost is a single node's files, and the real dnsmasq.
type dnsHost struct {
	root, port string
	said       bytes.Buffer
	ended      chan error
}

// run starts dnsmasq as a unit does: /etc is the host's, and the port a free one.
func (h *dnsHost) run(t *testing.T, command string) {
	t.Helper()
	program, err := exec.LookPath("dnsmasq")
	if err != nil {
		t.Skip("SKIP: dnsmasq is not here")
	}
	argv := strings.Fields(command)[1:]
	if !strings.Contains(command, "--conf-file") {
		argv = append(argv, "--conf-file=/etc/dnsmasq.conf") // what it reads by default
	}
	for n := range argv {
		argv[n] = strings.ReplaceAll(argv[n], "/etc/", h.root+"/etc/")
	}
	cmd := exec.CommandContext(t.Context(), program, append(argv, "--port="+h.port, "--pid-file", "--log-facility=-")...)
	cmd.Stderr = &h.said
	require.NoError(t, cmd.Start())
	h.ended = make(chan error, 1)
	go func() { h.ended <- cmd.Wait() }()
}

func newDNSHost(t *testing.T) *dnsHost {
	t.Helper()
	free, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer free.Close()
	_, port, err := net.SplitHostPort(free.LocalAddr().String())
	require.NoError(t, err)
	// Not t.TempDir: dnsmasq gives its privileges up, and reads its files as another user.
	root, err := os.MkdirTemp("", "dnsmasq")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(root)) })
	require.NoError(t, os.Chmod(root, 0o755))
	h := &dnsHost{root: root, port: port}
	h.write(t, "/etc/dnsmasq.conf", fmt.Sprintf(systemDNS, root))
	return h
}

func (h *dnsHost) write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(h.root+path), 0o755))
	require.NoError(t, os.WriteFile(h.root+path, []byte(content), 0o644))
}

// written returns the files of a MachineConfig, by their paths.
func written(t *testing.T, f manifests.File) map[string]string {
	t.Helper()
	var object struct {
		Kind string
		Spec struct{ Config json.RawMessage }
	}
	if manifests.IsPatch(f.Name) || yaml.Unmarshal(f.Content, &object) != nil || object.Kind != "MachineConfig" {
		return nil
	}
	config, report, err := v3_2.Parse(object.Spec.Config)
	require.NoError(t, err, report.String())
	files := map[string]string{}
	for _, file := range config.Storage.Files {
		u, err := dataurl.DecodeString(*file.Contents.Source)
		require.NoError(t, err)
		files[file.Path] = string(u.Data)
	}
	return files
}

// lookup asks the host's server.
func (h *dnsHost) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", h.port))
	}}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return resolver.LookupNetIP(ctx, "ip4", name)
}

func TestTheNamesOfASingleNodeAreServedOnRHEL9(t *testing.T) {
	t.Parallel()
	files, err := manifests.Generate(input(func(in *manifests.Input) {
		in.Cluster.ControlPlaneCount, in.Hosts, in.Options.SingleNodeDNS = 1, in.Hosts[:1], true
		in.Cluster.MachineNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		in.Hosts[0].Inventory.Interfaces[0].Ipv4Addresses = []string{"127.0.0.1/8"}
	}))
	require.NoError(t, err)
	h := newDNSHost(t)
	h.write(t, "/run/NetworkManager/resolv.conf", "")
	var command string
	for _, f := range files {
		for path, content := range written(t, f) {
			h.write(t, path, strings.ReplaceAll(content, "/run/", h.root+"/run/"))
		}
		for line := range strings.Lines(string(f.Content)) {
			if _, is, found := strings.Cut(line, "ExecStart="); found && strings.Contains(is, "dnsmasq") {
				command = is
			}
		}
	}
	require.NotEmpty(t, command)
	h.run(t, command)
	for _, name := range []string{"api.one.example.com", "api-int.one.example.com", "console.apps.one.example.com"} {
		var found []netip.Addr
		await.True(t, func() bool {
			found, err = h.lookup(t.Context(), name)
			return err == nil || len(h.ended) > 0
		}, name)
		require.Empty(t, h.ended, "dnsmasq ended: %s", &h.said)
		require.Equal(t, []netip.Addr{netip.MustParseAddr("127.0.0.1")}, found, name)
	}
}

// RHEL 9's configuration fails beside another one: the reason for a configuration of its own.
func TestDNSBesideTheConfigurationOfRHEL9DoesNotStart(t *testing.T) {
	t.Parallel()
	h := newDNSHost(t)
	h.write(t, "/etc/dnsmasq.d/single-node.conf", "address=/api.one.example.com/127.0.0.1\nlisten-address=127.0.0.1\nbind-dynamic\n")
	h.run(t, "/usr/sbin/dnsmasq --keep-in-foreground")
	require.Error(t, await.Receive(t, h.ended))
	require.Contains(t, h.said.String(), "cannot set --bind-interfaces and --bind-dynamic")
}
