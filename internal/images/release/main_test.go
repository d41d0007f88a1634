package release_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
	"slipway/internal/sim/payload/standin"
	"slipway/internal/testing/httpclient"
)

// TestMain lets the test binary be the programs that tests run as processes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "sim-installer":
			os.Exit(standin.Main(standin.Call{Args: os.Args[2:], Env: os.Environ(), Now: time.Now(), Stdout: os.Stdout, Stderr: os.Stderr}))
		case "agent-installer":
			os.Exit(agentInstaller(os.Args[2:]))
		case "stall-in-download":
			stallInDownload(os.Args[2], os.Args[3])
		case "stall-in-run":
			stallInRun(os.Args[2], os.Args[3], os.Args[4])
		}
	}
	os.Exit(m.Run())
}

// stallInDownload asks for an installer, says so when its program is about to arrive,
// and stops there.
func stallInDownload(dir, image string) {
	registry, _, _ := strings.Cut(image, "/")
	transport := httpclient.Transport()
	r, err := release.Open(dir, release.Options{
		PlainHTTP: []string{registry}, Architecture: "amd64", Now: time.Now,
		Transport: transportFunc(func(q *http.Request) (*http.Response, error) {
			answer, err := transport.RoundTrip(q)
			if partial, _ := filepath.Glob(filepath.Join(dir, "installers", ".*.partial")); len(partial) > 0 && err == nil {
				answer.Body = stalledBody{answer.Body}
			}
			return answer, err
		}),
	})
	if err == nil {
		_, err = r.Installer(context.Background(), release.Need{Image: image, Platform: "none", PullSecret: pullSecret})
	}
	fmt.Println("not stalled:", err)
	os.Exit(1)
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

type stalledBody struct{ io.ReadCloser }

func (b stalledBody) Read(p []byte) (int, error) {
	_, _ = b.ReadCloser.Read(p[:1])
	fmt.Println("stalled")
	select {}
}

const (
	user, password = "user", "pass-word-1234"
	pullSecret     = model.Secret(`{"auths":{"127.0.0.1":{"auth":"bm9ib2R5Om5vdGhpbmc="},"quay.io":{"auth":"c29tZWJvZHk6c29tZXRoaW5n"}}}`)
)

// serve starts a registry with releases whose installer is this test binary, or command.
func serve(t *testing.T, opts payload.Options, command ...string) *payload.Payload {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	if len(command) == 0 {
		command = []string{self, "sim-installer"}
	}
	opts.InstallerCommand = command
	if opts.Versions == nil {
		opts.Versions = []string{"4.20.33"}
	}
	if opts.Architecture == "" {
		opts.Architecture = "amd64"
	}
	p, err := payload.Serve(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// open returns releases over a fresh folder that may read p.
func open(t *testing.T, p *payload.Payload, change func(*release.Options)) (*release.Releases, string) {
	t.Helper()
	dir := t.TempDir()
	return openAt(t, p, dir, change), dir
}

func openAt(t *testing.T, p *payload.Payload, dir string, change func(*release.Options)) *release.Releases {
	t.Helper()
	opts := release.Options{PlainHTTP: []string{p.Address()}, Architecture: "amd64", Now: time.Now}
	if change != nil {
		change(&opts)
	}
	r, err := release.Open(dir, opts)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

// programs lists the cached programs by name.
func programs(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "installers"))
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}
