package deploy_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/test/built"
)

// A person copies the programs to a server without packages, runs install-service and does the steps that it prints; runs it again as an
// upgrade, and removes the service.
func TestServerWithoutAPackage(t *testing.T) {
	demo := built.Demo(t)
	m := boot(t, demo)
	before := files(t, m.root)
	for _, pattern := range []string{"slipway", "slipway-agent-*", "slipway-controller-*"} {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(demo), pattern))
		require.NoError(t, err)
		require.NotEmpty(t, found, "make build")
		for _, program := range found {
			m.run(t, "chmod", "755", m.copyOf(t, program))
		}
	}

	said := m.run(t, "/root/slipway", "install-service")
	require.Contains(t, said, "Slipway is installed. Next, as root:\n  1. Name an address of this machine that hosts reach, in "+
		"/etc/slipway/slipway.yaml:  listen: 192.0.2.2:8090\n  2. systemctl enable --now slipway\n")
	require.Equal(t, "/usr/local/bin/slipway\n", m.run(t, "sh", "-c", "command -v slipway"))
	require.Contains(t, m.run(t, "bash", "-c", ". /usr/local/share/bash-completion/completions/slipway; complete -p slipway"),
		"/usr/local/bin/slipway")
	s := serve(t, demo)
	m.configure(t, s)
	m.run(t, "systemctl", "enable", "--now", "slipway")
	require.Contains(t, m.run(t, "systemctl", "status", "--no-pager", "slipway"), `Status: "API https://`+s.address)
	require.Contains(t, m.run(t, "slipway", "cluster", "list"), "NAME")
	require.Contains(t, m.processes(t), "/usr/local/bin/slipway up")

	process := m.run(t, "systemctl", "show", "--property", "MainPID", "slipway")
	said = m.run(t, "/root/slipway", "install-service")
	require.NotContains(t, said, "Next, as root", "only once")
	require.NotEqual(t, process, m.run(t, "systemctl", "show", "--property", "MainPID", "slipway"), "the newer one runs")
	require.Contains(t, m.run(t, "slipway", "cluster", "list"), "NAME")

	m.write(t, "/etc/systemd/system/slipway.service", "[Service]\nExecStart=/root/slipway up\n")
	require.Contains(t, m.fails(t, "/root/slipway", "install-service"), "slipway: install the service: "+
		"/etc/systemd/system/slipway.service is there already: upgrade or remove the package, or the unit of yours, that has it")
	m.run(t, "rm", "/etc/systemd/system/slipway.service")
	m.run(t, "systemctl", "daemon-reload")

	said = m.run(t, "slipway", "remove-service", "--purge")
	require.Contains(t, said, "clusters, keys and images stay in /var/lib/slipway, with the user slipway")
	require.Empty(t, m.processes(t))
	left := slices.DeleteFunc(files(t, m.root), func(name string) bool {
		return slices.Contains(before, name) || strings.HasPrefix(name, "/var/lib/slipway/") ||
			strings.HasPrefix(name, "/etc/") && strings.HasSuffix(name, "-") || // copies of useradd
			strings.HasPrefix(name, "/usr/local/") && strings.HasSuffix(name, "/") // folders that others use too
	})
	require.Empty(t, left)
	require.FileExists(t, filepath.Join(m.root, "var/lib/slipway/keys"))
}
