// Package built runs the binary of `make build` for the tests that need all of it.
package built

import (
	"cmp"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Binary is the path of the program under test; SLIPWAY_BINARY names another than that
// of `make build`. The test is skipped without one.
func Binary(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(cmp.Or(os.Getenv("SLIPWAY_BINARY"), "../../bin/slipway"))
	require.NoError(t, err)
	if _, err := os.Stat(path); err != nil {
		t.Skip("SKIP: this test needs bin/slipway (make build)")
	}
	return path
}

// FreeAddress is a loopback address nobody listens on now.
func FreeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// WaitReady waits until the service at a URL answers, two minutes at most.
func WaitReady(t *testing.T, url string) {
	t.Helper()
	require.Eventually(t, func() bool {
		response, err := http.Get(url + "/ready")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, 2*time.Minute, 50*time.Millisecond, "the service is not ready")
}

// StartDemo serves the API and releases at an address until the test ends.
func StartDemo(t *testing.T, program, address string) {
	t.Helper()
	// Not t.TempDir: its path is too long for the database's socket.
	dir, err := os.MkdirTemp("", "slipway-built-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	demo := exec.Command(program, "demo", "--hosts", "0", "--keep", "--plain", "--listen", address, "--data-dir", dir)
	log, err := os.Create(filepath.Join(dir, "demo.log"))
	require.NoError(t, err)
	demo.Stdout, demo.Stderr = log, log
	demo.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, demo.Start())
	t.Cleanup(func() {
		_ = demo.Process.Signal(syscall.SIGTERM)
		_ = demo.Wait()
		_ = log.Close()
		if !t.Failed() {
			_ = os.RemoveAll(dir)
			return
		}
		t.Logf("the service's files are kept in %s", dir)
	})
	WaitReady(t, "http://"+address)
}
