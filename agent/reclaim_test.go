package agent_test

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

const bootEntry = "/boot/loader/entries/00-assisted-discovery.conf"

func artifacts(url string) string {
	return fmt.Sprintf(
		`{"host_fs_mount_dir":"/host","kernel_url":"%[1]s/kernel","initrd_url":"%[1]s/initrd","rootfs_url":"%[1]s/rootfs"}`,
		url,
	)
}

func TestInstalledHostFetchesTheDiscoveryImageAndBootsIt(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = w.Write([]byte("content of " + r.URL.Path))
	}))
	t.Cleanup(images.Close)
	s, h := newService(t), newHost(t)
	rebooted := make(chan struct{})
	h.On("systemctl", func(context.Context, hostexec.Cmd) (hostexec.Result, error) {
		close(rebooted)
		return hostexec.Result{}, nil
	})
	s.Change(func() { s.Registered = true }) // when it was discovered
	h.start(t, s, func(o *agent.Options) { o.Reclaim = true })
	s.Give("reboot-0", wire.StepTypeRebootForReclaim, `{"host_fs_mount_dir":"/host"}`)
	require.NotZero(t, s.AwaitReply(t, "reboot-0").ExitCode, "there is no discovery image yet")
	require.Empty(t, s.Seen().Polls[0].Get("Slipway-Boot"), "the installed system is a boot that is never registered")
	s.Give("download-1", wire.StepTypeDownloadBootArtifacts, artifacts(images.URL))
	reply := s.AwaitReply(t, "download-1")
	require.Zero(t, reply.ExitCode, reply.Error)
	kernel, err := os.ReadFile(h.root.Path("/boot/discovery/vmlinuz"))
	require.NoError(t, err)
	require.Equal(t, "content of /kernel", string(kernel))
	entry, err := os.ReadFile(h.root.Path(bootEntry))
	require.NoError(t, err)
	require.Contains(t, string(entry), "coreos.live.rootfs_url="+images.URL+"/rootfs")
	require.Zero(t, h.Count("systemctl"))

	s.Give("reboot-1", wire.StepTypeRebootForReclaim, `{"host_fs_mount_dir":"/host"}`)
	require.Zero(t, s.AwaitReply(t, "reboot-1").ExitCode)
	await.Receive(t, rebooted, "the host does not reboot")
	require.Empty(t, s.Seen().Registrations, "an installed host does not register")
}

func TestImageThatCannotBeFetchedFailsTheStep(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	images := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(images.Close)
	h.start(t, s)
	s.Give("download-1", wire.StepTypeDownloadBootArtifacts, artifacts(images.URL))
	reply := s.AwaitReply(t, "download-1")
	require.NotZero(t, reply.ExitCode)
	require.Contains(t, reply.Error, "require status 200, found 404")
	require.NoFileExists(t, h.root.Path(bootEntry))
}

func TestConfigurationOfAnExistingClusterIsFetched(t *testing.T) {
	t.Parallel()
	const config = `{"ignition":{"version":"3.2.0"},"storage":{"luks":[{"name":"root","device":"/dev/x"}],"files":[` +
		`{"path":"/etc/kubernetes/kubeconfig","contents":{"source":"data:,k"}},{"path":"/etc/secret","contents":{"source":"data:,s"}}]}}`
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t0ken" || r.Header.Get("X-Pool") != "blue" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(config))
	}))
	t.Cleanup(server.Close)
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	for name, tt := range map[string]struct {
		authority, token string
		is, isNot        string
	}{
		"with its certificate authority and token": {authority, "t0ken", `"is_success":true`, "/etc/secret"},
		"not from a server without a known signer": {"", "t0ken", "certificate", `"is_success"`},
		"not without the token":                    {authority, "", "found 401", `"is_success"`},
		"not with an invalid authority":            {"%", "t0ken", "certificate authority", `"is_success"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t)
			h.start(t, s)
			s.Give("api-vip-1", wire.StepTypeAPIVipConnectivityCheck, fmt.Sprintf(
				`{"url":%q,"ca_certificate":%q,"ignition_endpoint_token":%q,"request_headers":[{"key":"X-Pool","value":"blue"}]}`,
				server.URL+"/config/worker", tt.authority, tt.token))
			reply := s.AwaitReply(t, "api-vip-1")
			require.Zero(t, reply.ExitCode, "that it cannot be fetched is an answer")
			require.Contains(t, reply.Output, tt.is)
			require.NotContains(t, reply.Output, tt.isNot)
		})
	}
}

func TestOfAMachineConfigOnlyTheOperatingSystemIsReported(t *testing.T) {
	t.Parallel()
	in64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	const file = `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/ignition-machine-config-encapsulated.json",` +
		`"contents":{"source":"data:;base64,%s"}}]}}`
	for name, c := range map[string]struct{ config, is string }{
		"as the server writes it": {
			`{"metadata":{"name":"rendered-worker-1"},"spec":{"osImageURL":"quay.io/os@sha256:1","kernelArguments":["psk=s3cret"],"config":{}}}`,
			in64(`{"spec":{"osImageURL":"quay.io/os@sha256:1"}}`),
		},
		"without one":        {`{"spec":{}}`, in64(`{"spec":{}}`)},
		"that is no object":  {"[]", `"is_success":true`},
		"that is not JSON":   {"psk=s3cret", `"is_success":true`},
		"that has no member": {`{"spec":{"osImageURL":5}}`, `"is_success":true`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, file, in64(c.config))
			}))
			t.Cleanup(server.Close)
			s, h := newService(t), newHost(t)
			h.start(t, s)
			s.Give("api-vip-1", wire.StepTypeAPIVipConnectivityCheck, fmt.Sprintf(`{"url":%q}`, server.URL))
			output := s.AwaitReply(t, "api-vip-1").Output
			require.Contains(t, output, c.is)
			if c.is != in64(c.config) {
				require.NotContains(t, output, in64(c.config))
			}
		})
	}
}

func TestAHalfFetchedDiscoveryImageLeavesTheOneBefore(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case broken.Load() && r.URL.Path == "/initrd":
			http.NotFound(w, r)
		case broken.Load():
			_, _ = w.Write([]byte("another kernel"))
		default:
			_, _ = w.Write([]byte("content of " + r.URL.Path))
		}
	}))
	t.Cleanup(images.Close)
	s, h := newService(t), newHost(t)
	h.start(t, s)
	s.Give("download-1", wire.StepTypeDownloadBootArtifacts, artifacts(images.URL))
	require.Zero(t, s.AwaitReply(t, "download-1").ExitCode)
	broken.Store(true)
	s.Give("download-2", wire.StepTypeDownloadBootArtifacts, artifacts(images.URL))
	require.NotZero(t, s.AwaitReply(t, "download-2").ExitCode)
	kernel, err := os.ReadFile(h.root.Path("/boot/discovery/vmlinuz"))
	require.NoError(t, err)
	require.Equal(t, "content of /kernel", string(kernel), "never a new kernel with an old initial file system")
	require.FileExists(t, h.root.Path(bootEntry))
}
