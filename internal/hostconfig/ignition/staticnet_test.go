package ignition_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vincent-petithory/dataurl"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/staticnet"
	"slipway/internal/model"
)

func TestNetworkSettingsAreInPlaceBeforeNetworkManagerStarts(t *testing.T) {
	t.Parallel()
	in := minimal()
	in.StaticNetwork = []staticnet.File{
		{Path: "/etc/assisted/network/host0/eth0.nmconnection", Mode: 0o600, Content: []byte("[connection]\nid=\"eth0\"\n")},
	}
	config := discover(t, in)
	contents := map[string]string{}
	for _, f := range config.Storage.Files {
		if f.Contents.Source != nil {
			contents[f.Path] = *f.Contents.Source
		}
	}
	require.Contains(t, contents, staticnet.ScriptPath)
	require.Contains(t, contents, "/etc/assisted/network/host0/eth0.nmconnection")
	for _, u := range config.Systemd.Units {
		if u.Name == "pre-network-manager-config.service" {
			require.True(t, *u.Enabled)
			require.Contains(t, *u.Contents, "Before=NetworkManager.service")
			require.Contains(t, *u.Contents, "ExecStart="+staticnet.ScriptPath)
			return
		}
	}
	require.Fail(t, "the unit is missing")
}

func TestNetworkSettingsAreAppliedByTheMethodOfTheSystem(t *testing.T) {
	t.Parallel()
	for _, method := range []staticnet.Method{"", staticnet.MethodKeyfiles, staticnet.MethodNMState} {
		in := minimal()
		in.NetworkMethod = method
		in.StaticNetwork = []staticnet.File{{Path: "/etc/assisted/network/host0/mac_interface.ini", Mode: 0o600, Content: []byte("x")}}
		want := staticnet.Script(staticnet.MethodKeyfiles)
		if method == staticnet.MethodNMState {
			want = staticnet.Script(method)
		}
		config := discover(t, in)
		require.Equal(t, string(want), content(t, config, staticnet.ScriptPath))
		const fallback = "/usr/local/bin/pre-network-manager-config-keyfiles.sh"
		require.Equal(t, method == staticnet.MethodNMState, slices.Contains(files(config), fallback), "for a system of an older version")
	}
}

func TestDisconnectedConfigIsCompletedWithWhatTheInstallerDoesNotKnow(t *testing.T) {
	t.Parallel()
	made := []byte(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/installer"}]}}`)
	e := minimal().InfraEnv
	config, err := ignition.Disconnected(made, e)
	require.NoError(t, err)
	require.Empty(t, fileContent(t, config, "/etc/assisted/interactive-ui"))
	require.NotContains(t, string(config), "trust-bundle")
	e.AdditionalTrustBundle, e.IgnitionConfigOverride = ca, fcos
	config, err = ignition.Disconnected(made, e)
	require.NoError(t, err)
	require.Equal(t, ca, fileContent(t, config, "/etc/pki/ca-trust/source/anchors/assisted-infraenv-additional-trust-bundle.pem"))
	require.Equal(t, "a: {b}\n", fileContent(t, config, "/etc/mine"))
	require.Contains(t, string(config), `"/installer"`)
	_, err = ignition.Disconnected([]byte("{}"), e)
	require.ErrorContains(t, err, "merge config of a disconnected image")
	e.IgnitionConfigOverride = "{"
	_, err = ignition.Disconnected(made, e)
	require.ErrorIs(t, err, model.ErrInvalid)
}

func TestAgentWaitsOnceForTheNetworkAsLongAsItsEnvironmentSays(t *testing.T) {
	t.Parallel()
	in := minimal()
	in.InfraEnv.DiscoveryDelay = 45 * time.Second
	dropin, delay := "", ""
	for _, u := range discover(t, in).Systemd.Units {
		switch u.Name {
		case "agent.service":
			require.True(t, *u.Enabled, "the drop-in leaves the unit as it was")
			require.NotNil(t, u.Contents)
			require.Len(t, u.Dropins, 1)
			dropin = *u.Dropins[0].Contents
		case "network-discovery-delay.service":
			require.Nil(t, u.Enabled, "the agent alone waits for it")
			delay = *u.Contents
		}
	}
	require.Contains(t, dropin, "Wants=network-discovery-delay.service\nAfter=network-discovery-delay.service\n")
	require.NotContains(t, dropin, "ExecStartPre", "that would be run at each restart of the agent")
	require.Contains(t, delay, "ExecStart=/usr/bin/sleep 45\n")
	require.Contains(t, delay, "RemainAfterExit=yes\n", "once in a boot")
	require.Contains(t, delay, "After=network-online.target\n")
}

func TestTimeSourcesThatAreTheOnlyOnesReplaceTheOthers(t *testing.T) {
	t.Parallel()
	in := minimal()
	in.InfraEnv.NTPSources = []string{"192.0.2.1"}
	script := func() string {
		for _, f := range discover(t, in).Storage.Files {
			if f.Path == "/usr/local/bin/add-ntp-sources.sh" {
				decoded, err := dataurl.DecodeString(*f.Contents.Source)
				require.NoError(t, err)
				return string(decoded.Data)
			}
		}
		return ""
	}
	file := filepath.Join(t.TempDir(), "chrony.conf")
	run := func(shipped string, times int) string {
		require.NoError(t, os.WriteFile(file, []byte(shipped), 0o644))
		for range times {
			out, err := exec.Command("bash", "-c", strings.ReplaceAll(script(), "/etc/chrony.conf", file)).CombinedOutput()
			require.NoError(t, err, string(out))
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}
	// Fedora's and RHEL's file, without its comments: chrony.conf of chrony-4.6.
	const shipped = "pool 2.rhel.pool.ntp.org iburst\nsourcedir /run/chrony-dhcp\ndriftfile /var/lib/chrony/drift\nmakestep 1.0 3\nrtcsync\n"
	const added = "# time sources of the InfraEnv\nserver 192.0.2.1 iburst\nmakestep 1.0 -1\n"
	// An image of a site may have: lines of other forms, a folder of its own, and no end of the last line.
	const ownFolder = "  Server ntp.site.example iburst\nsourcedir /etc/chrony.d\n\tsourcedir  /var/run/chrony-dhcp\npeer 192.0.2.9\nrtcsync"
	require.Equal(t, "pool 2.rhel.pool.ntp.org iburst\nsourcedir /run/chrony-dhcp\ndriftfile /var/lib/chrony/drift\n"+
		"# makestep 1.0 3\nrtcsync\n"+added, run(shipped, 1))
	require.Equal(t, ownFolder+"\n"+added, run(ownFolder, 2))
	require.Equal(t, added, run("", 1))
	in.InfraEnv.NTPSourcesOnly = true
	want := "# pool 2.rhel.pool.ntp.org iburst\nsourcedir /run/chrony-dhcp\ndriftfile /var/lib/chrony/drift\n" +
		"# makestep 1.0 3\nrtcsync\n" + added
	require.Equal(t, want, run(shipped, 1), "servers that DHCP names are used, as on installed nodes")
	require.Equal(t, want, run(shipped, 2), "once in a boot")
	require.Equal(t, "#   Server ntp.site.example iburst\n# sourcedir /etc/chrony.d\n"+
		"\tsourcedir  /var/run/chrony-dhcp\n# peer 192.0.2.9\nrtcsync\n"+added, run(ownFolder, 1))
	require.Equal(t, "# server a\n# sourcedir /srv/run/x\nrefclock PHC /dev/ptp0\n"+added,
		run("server a\nsourcedir /srv/run/x\nrefclock PHC /dev/ptp0\n", 1), "another folder, and a clock of the machine")
}
