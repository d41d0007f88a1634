package versions

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/app/process"
)

const sources = `[{"openshift_version":"4.22","multi_cpu_architectures":["x86_64","arm64","ppc64le","s390x"],"upgrade_channels":[
	{"cpu_architecture":"x86_64","channels":["stable"]},{"cpu_architecture":"multi","channels":["stable"]}]}]`

// internet answers as the update service, the product life cycles and the mirror of images do.
func internet(t *testing.T) (address string, down func()) {
	t.Helper()
	broken := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case broken:
			http.Error(w, "down", http.StatusBadGateway)
		case r.URL.Path == "/api/upgrades_info/v1/graph":
			fmt.Fprint(w, `{"nodes":[{"version":"4.22.9"},{"version":"4.22.11"},{"version":"4.21.3"}]}`)
		case r.URL.Path == "/products":
			fmt.Fprint(w, `{"data":[{"versions":[{"name":"4.22","type":"Full Support"}]}]}`)
		case r.URL.Path == "/mirror/x86_64/dependencies/rhcos/4.22/latest/sha256sum.txt":
			fmt.Fprint(w, strings.Repeat("a", 64)+"  rhcos-4.22.11-x86_64-live-iso.x86_64.iso\n")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, func() { broken = true }
}

func testProcess() (*process.Process, *bytes.Buffer) {
	out := &bytes.Buffer{}
	return &process.Process{
		Stdout: out, Stderr: out, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC) },
	}, out
}

func update(t *testing.T, address string) updateCommand {
	t.Helper()
	return updateCommand{
		DataDir: filepath.Join(t.TempDir(), "data"), ReleaseSources: sources, UpdateService: address, LifeCycles: address + "/products",
		Mirror: address + "/mirror",
	}
}

func TestUpdateReplacesTheShippedLists(t *testing.T) {
	t.Parallel()
	address, down := internet(t)
	p, out := testProcess()
	c := update(t, address)
	require.NoError(t, c.Run(t.Context(), p))
	require.Contains(t, out.String(), "versions.json: 2 releases and 4 live images; a running service offers them after a restart\n")

	offer, err := Read(Lists{}, c.DataDir)
	require.NoError(t, err)
	var known []string
	for _, r := range offer.Releases {
		known = append(known, r.Version)
	}
	require.ElementsMatch(t, []string{"4.22.11", "4.22.11-multi"}, known, "the newest of the minor version")
	x86, _, _ := offer.OSImages.Lookup("4.22", "x86_64", "")
	require.Equal(t, address+"/mirror/x86_64/dependencies/rhcos/4.22/4.22.11/rhcos-4.22.11-x86_64-live-iso.x86_64.iso", x86.URL)
	arm, _, _ := offer.OSImages.Lookup("4.22", "arm64", "")
	require.Contains(t, arm.URL, "https://mirror.openshift.com/", "what the mirror lacks stays as it is shipped")

	before, err := os.ReadFile(File(c.DataDir))
	require.NoError(t, err)
	down()
	require.ErrorContains(t, c.Run(t.Context(), p), "look for releases: ")
	after, err := os.ReadFile(File(c.DataDir))
	require.NoError(t, err)
	require.Equal(t, before, after, "a failed look changes nothing")
}

func TestVersionsAreCarriedToASiteWithoutInternet(t *testing.T) {
	t.Parallel()
	address, down := internet(t)
	p, out := testProcess()
	connected := update(t, address)
	connected.File = filepath.Join(t.TempDir(), "carried.json")
	require.NoError(t, connected.Run(t.Context(), p))
	format := updateCommand{DataDir: t.TempDir(), From: connected.File, Output: "versions.json"}
	require.EqualError(t, format.Run(t.Context(), p),
		"-o is an output format, and versions have none: name the file with -f, found -o versions.json")
	require.NoFileExists(t, File(connected.DataDir))
	require.Contains(t, out.String(), "slipway versions update --from")
	down()

	site := updateCommand{DataDir: t.TempDir(), From: connected.File}
	require.NoError(t, site.Run(t.Context(), p))
	offer, err := Read(Lists{}, site.DataDir)
	require.NoError(t, err)
	require.Len(t, offer.Releases, 2)

	content, err := os.ReadFile(connected.File)
	require.NoError(t, err)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }))
	t.Cleanup(web.Close)
	out.Reset()
	require.NoError(t, (&updateCommand{From: web.URL, File: "-"}).Run(t.Context(), p))
	require.Equal(t, string(content), out.String())
}

func TestFilesThatAreNoVersionsAreRefused(t *testing.T) {
	t.Parallel()
	p, _ := testProcess()
	file := filepath.Join(t.TempDir(), "wrong.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"release_images":[]}`), 0o600))
	c := updateCommand{DataDir: t.TempDir(), From: file}
	require.ErrorContains(t, c.Run(t.Context(), p), "release_images: ")
	require.NoFileExists(t, File(c.DataDir))
	require.Error(t, (&updateCommand{DataDir: t.TempDir(), From: file + "x"}).Run(t.Context(), p))
	require.ErrorContains(t, (&updateCommand{Mirror: "x", UpdateService: "y"}).Run(t.Context(), p), "read OCM_BASE_URL: ")

	require.NoError(t, os.WriteFile(File(c.DataDir), []byte("{"), 0o600))
	_, err := Read(Lists{}, c.DataDir)
	require.ErrorContains(t, err, "versions.json: read versions: require an object")
}
