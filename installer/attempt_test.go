package installer_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

const firstMaster = `{"ignition":{"version":"3.2.0"},
	"storage":{"files":[{"path":"/etc/kubernetes/first","contents":{"source":"data:,1"}}]}}`

// installedOnce makes a host go past bootkube in the first installation of its cluster.
func installedOnce(t *testing.T, s *service, h *host, req *wire.BootstrapRequest) {
	t.Helper()
	services(h, t)
	s.files["bootstrap.ign"] = bootstrapIgnition()
	require.NoError(t, newInstaller(s, h, nil).StartBootstrap(t.Context(), req))
	h.write(t, "/opt/openshift/.bootkube.done", "")
	h.write(t, "/opt/openshift/master.ign", firstMaster)
}

func TestBootstrapOfAnotherAttemptIsRefusedUntilTheHostIsBootedAgain(t *testing.T) {
	t.Parallel()
	another := bootstrapIgnition() + " "
	for name, c := range map[string]struct {
		first, second int
		config        string // of the second attempt
		change        func(*wire.BootstrapRequest)
		refused       bool
	}{
		"the same installation":                     {first: 1, second: 1, config: another},
		"the next installation":                     {first: 1, second: 2, config: bootstrapIgnition(), refused: true},
		"the same installation without a number":    {config: bootstrapIgnition()},
		"another installation without a number":     {config: another, refused: true},
		"an installation that is numbered since":    {second: 1, config: bootstrapIgnition(), refused: true},
		"the same number of another cluster":        {first: 1, second: 1, config: bootstrapIgnition(), refused: true, change: elsewhere},
		"another cluster's without a number either": {config: bootstrapIgnition(), refused: true, change: elsewhere},
	} {
		for _, nodes := range []int{1, 3} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s, h := newService(t), newHost(t, nil)
				first := bootstrap(nodes)
				first.Attempt = c.first
				installedOnce(t, s, h, first)
				before := len(h.Lines())
				second := bootstrap(nodes)
				second.Attempt = c.second
				if c.change != nil {
					c.change(second)
				}
				s.files["bootstrap.ign"] = c.config
				err := newInstaller(s, h, nil).StartBootstrap(t.Context(), second)
				if !c.refused {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, "boot this host from its discovery image again")
				require.Len(t, h.Lines(), before, "nothing was run")
				require.JSONEq(t, bootstrapIgnition(), h.read(t, "/opt/install-dir/bootstrap.ign"), "nothing was written")

				booted := newHost(t, nil) // the live image keeps nothing
				services(booted, t)
				require.NoError(t, newInstaller(s, booted, nil).StartBootstrap(t.Context(), second))
			})
		}
	}
}

func elsewhere(r *wire.BootstrapRequest) {
	r.ClusterID = uuid.MustParse("99999999-0000-4000-8000-000000000000")
}

func TestBootstrapThatNobodyMarkedIsRefused(t *testing.T) {
	t.Parallel()
	for _, left := range []string{"/opt/openshift/.bootkube.done", "/opt/openshift/auth/kubeconfig", "/opt/openshift/master.ign"} {
		s, h := newService(t), newHost(t, nil)
		services(h, t)
		s.files["bootstrap.ign"] = bootstrapIgnition()
		h.write(t, left, "")
		err := newInstaller(s, h, nil).StartBootstrap(t.Context(), bootstrap(1))
		require.ErrorContains(t, err, "boot this host from its discovery image again", left)
		require.Empty(t, h.Lines())
	}
}

func TestNothingOfTheBootstrapOfAnotherClusterIsTaken(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	installedOnce(t, s, h, bootstrap(1))
	other := bootstrap(1)
	elsewhere(other)
	i := newInstaller(s, h, nil)
	require.ErrorContains(t, i.WaitBootkube(t.Context(), &other.InstallCmdRequest), "boot this host from its discovery image again")
	_, err := i.FetchIgnition(t.Context(), &other.InstallCmdRequest)
	require.ErrorContains(t, err, "boot this host from its discovery image again")
}

// The whole installation as one step, as services of other implementations command it: they number no attempts.
func TestInstallStepOfTheNextAttemptFailsWithoutAReboot(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	working(t, h)
	s.files["bootstrap.ign"], s.files["ignition"] = bootstrapIgnition(), `{"ignition":{"version":"3.1.0"}}`
	require.NoError(t, newInstaller(s, h, nil, script(t)).Install(t.Context(), request("bootstrap", 1)))
	written := h.Count("coreos-installer")
	s.files["bootstrap.ign"] = bootstrapIgnition() + "\n"
	err := newInstaller(s, h, nil, script(t)).Install(t.Context(), request("bootstrap", 1))
	require.ErrorContains(t, err, "boot this host from its discovery image again")
	require.Equal(t, written, h.Count("coreos-installer"))
}
