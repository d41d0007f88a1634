package installer_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

// serverSaid returns what a real machine-config-server (its source of August 2026, on clusters of this service) logged from a
// request for a pool to the next request, as if the host with an address had asked. wants is a part of the request's line.
func serverSaid(t *testing.T, file, wants, address string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata/machine-config-server", file))
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(content)) {
		if strings.Contains(line, "requested by address") {
			if lines != nil {
				break
			}
			if !strings.Contains(line, wants) {
				continue
			}
			lines = []string{regexp.MustCompile(`address:"[^"]+"`).ReplaceAllString(line, `address:"`+address+`:40520"`)}
			continue
		}
		if lines != nil {
			lines = append(lines, line)
		}
	}
	require.NotEmpty(t, lines, wants)
	return strings.Join(lines, "")
}

// container returns a line as the kubelet's container engine keeps it.
func container(log string) string {
	var out strings.Builder
	for line := range strings.Lines(log) {
		out.WriteString("2026-11-25T04:42:41.805362001Z stderr F " + line)
	}
	return out.String()
}

func TestAHostThatTheConfigServerRefusesIsNotConfiguring(t *testing.T) {
	t.Parallel()
	const (
		one, two    = "192.0.2.11", "192.0.2.12"
		refusesThis = ": Rebooting The machine config server refuses this host: "
	)
	ofIgnition := func(file, pool, address string) string {
		content, err := os.ReadFile(filepath.Join("testdata/machine-config-server", file))
		require.NoError(t, err)
		found := regexp.MustCompile(`Pool "` + pool + `" requested by address:"[^"]+" User-Agent:"Ignition[^\n]+`).Find(content)
		require.NotEmpty(t, found)
		return serverSaid(t, file, string(found), address)
	}
	luks := strings.Replace(serverSaid(t, "full.log", `Pool "master" requested by address:"`, one), `"curl/7.76.1"`, `"Ignition/2.20.0"`, 1)
	require.Contains(t, luks, "LUKS")
	for name, c := range map[string]struct {
		role, log string
		want      []string
	}{
		"a master that gets its config":   {"master", ofIgnition("full.log", "master", one), []string{master1 + ": Configuring"}},
		"an arbiter that gets its config": {"arbiter", ofIgnition("arbiter.log", "arbiter", one), []string{master1 + ": Configuring"}},
		"a master as a real Ignition asked": {
			"master", serverSaid(t, "none.ignition-fetch.log", `Pool "master"`, one), []string{master1 + ": Configuring"},
		},
		"a worker is refused and waits": {"worker", ofIgnition("full.log", "worker", one), []string{master1 + ": Waiting for ignition"}},
		"an arbiter whose pool does not exist": {
			"arbiter", ofIgnition("full.log", "arbiter", one), []string{master1 + refusesThis + "could not find file: (input)"},
		},
		"a master whose config cannot be converted": {
			"master", luks, []string{master1 + refusesThis + "couldn't convert config: LUKS is not supported on 2.2"},
		},
		"a pool that the bootstrap does not serve": {
			"master", ofIgnition("full.log", "infra", one),
			[]string{master1 + refusesThis + `couldn't get config: refusing to serve bootstrap configuration to pool "infra"`},
		},
		"refused first, served later": {
			"arbiter", ofIgnition("full.log", "arbiter", one) + ofIgnition("arbiter.log", "arbiter", one), []string{master1 + ": Configuring"},
		},
		"another host is refused": {
			"master", ofIgnition("full.log", "master", one) + ofIgnition("full.log", "worker", two), []string{master1 + ": Configuring"},
		},
		"another program is refused after it": {
			"master", ofIgnition("full.log", "master", one) + serverSaid(t, "full.log", `Pool "worker" requested by address:"`, two),
			[]string{master1 + ": Configuring"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			h := newHost(t, map[string]hostexectest.Answer{"systemctl show": systemd{}.show})
			h.write(t, "/opt/openshift/auth/kubeconfig", "config")
			h.write(t, serverLog, container(c.log))
			s.hosts = []wire.Host{otherHost(t, master1, "master-1", one, wire.HostRole(c.role), "Rebooting")}
			again := func() {}
			_, err := newInstaller(s, h, &kube{}, script(t, again, again), func(o *installer.Options) {
				o.FetchPause = 1
			}).WaitControlPlane(context.WithoutCancel(t.Context()), request("bootstrap", 3))
			require.Error(t, err)
			_, others := s.reports()
			require.Equal(t, c.want, others, "once, however often the log is read")
		})
	}
}
