// Package built runs the binary of `make build` for the tests that need all of it.
package built

import (
	"cmp"
	"crypto/tls"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/testing/postgrestest"
)

// Binary returns the path of the program under test; SLIPWAY_BINARY names another build than `make build` leaves. The test is skipped
// without one.
func Binary(t *testing.T) string {
	t.Helper()
	existingUser()
	path, err := filepath.Abs(cmp.Or(os.Getenv("SLIPWAY_BINARY"), "../../bin/slipway"))
	require.NoError(t, err)
	if _, err := os.Stat(path); err != nil {
		t.Skip("SKIP: this test needs bin/slipway (make build)")
	}
	return path
}

const userVariable = "SLIPWAY_POSTGRES_USER"

// ExistingUser returns the variable by which a service that root starts runs PostgreSQL as a user that exists: tests create none here.
func ExistingUser() string {
	return userVariable + "=" + cmp.Or(os.Getenv(userVariable), postgrestest.Account())
}

// existingUser sets ExistingUser for the services that the tests of this process start.
var existingUser = sync.OnceFunc(func() {
	_, account, _ := strings.Cut(ExistingUser(), "=")
	_ = os.Setenv(userVariable, account) //nolint:usetesting // for all tests of the process
})

// Demo returns the path of slipway-demo, in the folder of the program under test. The test is skipped without
// it.
func Demo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(Binary(t)), "slipway-demo")
	if _, err := os.Stat(path); err != nil {
		t.Skip("SKIP: this test needs bin/slipway-demo (make build)")
	}
	return path
}

// given are the ports that FreePorts gave out in this process.
var given struct {
	sync.Mutex
	ports map[int]bool
}

// FreePorts returns the first of n consecutive ports of 127.0.0.1 that are free. They are below the ports that Linux takes for
// connections, so that none is taken before its server listens, and given to one caller only.
func FreePorts(t *testing.T, n int) int {
	t.Helper()
	const first, end, attempts = 20000, 32000, 1000
	given.Lock()
	defer given.Unlock()
	for range attempts {
		base := first + rand.IntN(end-first-n)
		if !free(base, n) {
			continue
		}
		if given.ports == nil {
			given.ports = map[int]bool{}
		}
		for port := base; port < base+n; port++ {
			given.ports[port] = true
		}
		return base
	}
	require.FailNow(t, "no ports are free")
	return 0
}

func free(base, n int) bool {
	for port := base; port < base+n; port++ {
		if given.ports[port] {
			return false
		}
		l, err := net.Listen("tcp", address(port))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// FreeAddress returns a loopback address without a server.
func FreeAddress(t *testing.T) string {
	t.Helper()
	return address(FreePorts(t, 1))
}

// PlainHTTP is the setting of a service that stands behind a proxy.
const PlainHTTP = "SLIPWAY_PLAIN_HTTP=true"

// AnyCertificate asks a service whose authority is not known yet whether it is there.
var AnyCertificate = &http.Client{Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // nothing is sent
}}

// WaitReady waits until the service at a URL answers.
func WaitReady(t *testing.T, url string) {
	t.Helper()
	await.True(t, func() bool {
		response, err := AnyCertificate.Get(url + "/ready")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, "the service is not ready")
}

// StartDemo serves the API and releases at an address until the test ends. It returns the data folder of the service.
func StartDemo(t *testing.T, program, address string, env ...string) string {
	t.Helper()
	// Not t.TempDir: its path is too long for the database's socket.
	dir, err := os.MkdirTemp("", "slipway-built-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	demo := exec.Command(Demo(t), "--service", program, "--hosts", "0", "--keep", "--plain", "--listen", address, "--data-dir", dir)
	demo.Env = append(demo.Environ(), env...)
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
	WaitReady(t, map[bool]string{true: "http://", false: "https://"}[slices.Contains(env, PlainHTTP)]+address)
	return filepath.Join(dir, "service")
}
