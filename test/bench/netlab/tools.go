package netlab

import (
	"net"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Find looks for a command in PATH, and then in the folders of system administration.
func Find(name string) (string, error) {
	path, err := exec.LookPath(name)
	for _, place := range []string{"/usr/sbin", "/sbin", "/usr/libexec"} {
		if err != nil {
			path, err = exec.LookPath(filepath.Join(place, name))
		}
	}
	return path, err
}

// DNSMasq starts a name server on an address of the namespace, which knows no other, and
// gives leases if asked to; what it says goes to a file.
func (s *Space) DNSMasq(t *testing.T, log, address string, args ...string) {
	t.Helper()
	s.Start(t, log, nil, "dnsmasq", append([]string{
		"--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--pid-file=", "--user=root", "--log-facility=-",
		"--bind-interfaces", "--except-interface=lo", "--listen-address=" + address,
	}, args...)...)
}

// Listen opens a port of the namespace until the test ends.
func (s *Space) Listen(t *testing.T, network, address string) (listener net.Listener) {
	t.Helper()
	require.NoError(t, s.Inside(func() (err error) {
		listener, err = net.Listen(network, address)
		return err
	}))
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}
