package ignition_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/ignition"
)

// fetcher runs the script of a discovery config that fetches the agent, in a folder
// instead of /usr/local/bin.
type fetcher struct {
	t      *testing.T
	folder string
	in     ignition.DiscoveryInput
}

func newFetcher(t *testing.T, address, wanted string) *fetcher {
	t.Helper()
	for _, tool := range []string{"curl", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIP: %s is not installed (deploy/debian-packages)", tool)
		}
	}
	f := &fetcher{t, t.TempDir(), minimal()}
	sum := sha256.Sum256([]byte(wanted))
	f.in.Agent.URL, f.in.Agent.SHA256 = address+"/agent/slipway-agent-amd64", hex.EncodeToString(sum[:])
	return f
}

func (f *fetcher) run() (string, error) {
	f.t.Helper()
	script := content(f.t, discover(f.t, f.in), "/usr/local/bin/slipway-agent-fetch")
	script = strings.ReplaceAll(strings.ReplaceAll(script, "/usr/local/bin", f.folder), "--retry 5", "--retry 0")
	out, err := exec.CommandContext(f.t.Context(), "sh", "-c", script).CombinedOutput() //nolint:gosec // our own script
	return string(out), err
}

func (f *fetcher) agent() string {
	f.t.Helper()
	path := filepath.Join(f.folder, "slipway-agent")
	text, err := os.ReadFile(path)
	require.NoError(f.t, err)
	info, err := os.Stat(path)
	require.NoError(f.t, err)
	require.Equal(f.t, os.FileMode(0o755), info.Mode())
	return string(text)
}

func TestHostsFetchTheAgentOfTheirImage(t *testing.T) {
	t.Parallel()
	offered := "first"
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "/agent/slipway-agent-amd64", r.URL.Path)
		_, _ = w.Write([]byte(offered))
	}))
	t.Cleanup(service.Close)
	f := newFetcher(t, service.URL, "first")
	out, err := f.run()
	require.NoError(t, err, out)
	require.Equal(t, "first", f.agent())

	offered = "second"
	out, err = f.run()
	require.NoError(t, err, out)
	require.Equal(t, "first", f.agent(), "one that is there stays: it may have upgraded itself")
}

func TestHostsRunNoOtherAgentThanThatOfTheirImage(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("other")) }))
	t.Cleanup(service.Close)
	f := newFetcher(t, service.URL, "wanted")
	out, err := f.run()
	require.Error(t, err)
	require.Contains(t, out, "the service offers another agent than this image was made for: download the image again")
	require.NoFileExists(t, filepath.Join(f.folder, "slipway-agent"))
}

func TestHostsWithoutTheServiceFetchAgain(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(service.Close)
	f := newFetcher(t, service.URL, "wanted")
	out, err := f.run()
	require.Error(t, err, "systemd starts the unit again")
	require.Contains(t, out, "404")
	require.NoFileExists(t, filepath.Join(f.folder, "slipway-agent"))
}

func TestHostsTrustTheServiceAsTheirAgentDoes(t *testing.T) {
	t.Parallel()
	service := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("agent")) }))
	t.Cleanup(service.Close)
	f := newFetcher(t, service.URL, "agent")
	_, err := f.run()
	require.Error(t, err, "its certificate is not signed")
	f.in.Insecure = true
	out, err := f.run()
	require.NoError(t, err, out)
	require.Equal(t, "agent", f.agent())

	f.in.ServiceCA, f.in.Insecure = ca, false
	require.Contains(
		t,
		content(t, discover(t, f.in), "/usr/local/bin/slipway-agent-fetch"),
		"--cacert "+ignition.ServiceCAPath+" '"+service.URL,
	)
}
