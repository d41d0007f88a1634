package vm_test

import (
	"encoding/base64"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/bench/vm"
)

// stagePrefix begins the marks of a host's stages.
const stagePrefix = "stage "

// installation is a way of a machine from discovery to its disk.
type installation struct {
	number   int
	name     string
	firmware vm.Firmware
	boot     vm.Boot
	change   func(boot, *wire.InfraEnvCreateParams) // of the InfraEnv
	address  string
	bootList string // what the firmware has in its list then, with UEFI
}

func TestSmokeInstallWithBIOS(t *testing.T) {
	t.Parallel()
	install(t, installation{21, "install with BIOS", vm.BIOS, vm.DiskFirst, nil, vm.DHCPAddress, ""})
}

// The firmware would boot from the CD again if the installer did not change its list.
func TestInstallWithUEFIAndStaticAddress(t *testing.T) {
	t.Parallel()
	m, cluster := install(
		t,
		installation{
			22,
			"install with UEFI and a static address",
			vm.UEFI,
			vm.FirmwareOrder,
			staticAddress,
			static,
			"Red Hat Enterprise Linux",
		},
	)
	comesBack(t, m, cluster)
}

// install brings a machine into a cluster that is there already, and checks that it came
// back from its disk as the cluster's config says.
func install(t *testing.T, i installation) (*vm.Machine, *joined) {
	t.Helper()
	system := needs(t)
	if system.Installer == "" {
		t.Skip("SKIP: the bench's system was built without coreos-installer (make bench-image-vm with cargo)")
	}
	s, cluster := newService(t, system), newJoined(t)
	e := s.joining(t, i, cluster)
	o := vm.Options{Number: i.number, Firmware: i.firmware, Medium: vm.CD, Boot: i.boot, DiskGiB: 25, Now: time.Now}
	m := s.machine(t, o, e, i.name)
	s.inventory(t, m, e.ID)

	host := s.await(t, m, e.ID, "host is known", func(h wire.Host) bool { return h.Status == wire.HostStatusKnown })
	_, err := s.client.SetInstallerArgs(t.Context(), e.ID, host.ID, []string{"--append-karg", "bench.word=three"})
	require.NoError(t, err)
	_, err = s.client.InstallHost(t.Context(), e.ID, host.ID)
	require.NoError(t, err)
	m.Mark("installation asked for")
	s.await(t, m, e.ID, "host added", func(h wire.Host) bool {
		require.NotEqual(t, wire.HostStatusError, h.Status, h.StatusInfo)
		return h.Status == wire.HostStatusAddedToExistingCluster
	})
	i.check(t, cluster.await(t, m), host)
	require.Len(t, writes(m), 1, "times that an image was written")
	require.Subset(t, stages(m), []string{string(wire.HostStageWritingImageToDisk), string(wire.HostStageRebooting)})
	return m, cluster
}

// comesBack switches an installed machine off and on: it boots from its disk, and Ignition
// does not run again.
func comesBack(t *testing.T, m *vm.Machine, cluster *joined) {
	t.Helper()
	m.Stop()
	again, err := vm.Start(m.Options())
	require.NoError(t, err)
	t.Cleanup(again.Stop)
	second := cluster.await(t, again)
	require.NotContains(t, strings.Fields(second.CommandLine), "ignition.firstboot")
	require.Contains(t, strings.Fields(second.CommandLine), "bench.word=three")
}

// joining makes an InfraEnv for hosts of a cluster that was not installed here.
func (s *service) joining(t *testing.T, i installation, to *joined) *wire.InfraEnv {
	t.Helper()
	version := keyfiles
	imported, err := s.client.ImportCluster(t.Context(), wire.ImportClusterParams{
		Name: "vm-joined", APIVipDnsname: vm.HostAddress, OpenshiftClusterID: uuid.New(), OpenshiftVersion: &version,
	})
	require.NoError(t, err)
	_, err = s.client.UpdateCluster(t.Context(), imported.ID, wire.V2ClusterUpdateParams{IgnitionEndpoint: &wire.IgnitionEndpoint{
		URL: to.url, CaCertificate: base64.StdEncoding.EncodeToString([]byte(to.authority)),
	}})
	require.NoError(t, err)
	// QEMU's network has no time source.
	ignored := `["ntp-synced"]`
	_, err = s.client.IgnoreValidations(t.Context(), imported.ID, wire.IgnoredValidations{HostValidationIds: &ignored})
	require.NoError(t, err)
	return s.environment(t, strings.ReplaceAll(i.name, " ", "-"), wire.ImageTypeFullIso, func(p *wire.InfraEnvCreateParams) {
		p.ClusterID = &imported.ID
		override := s.registryElsewhere(t)
		p.IgnitionConfigOverride = &override
		if i.change != nil {
			i.change(boot{number: i.number}, p)
		}
	})
}

// registryElsewhere shows podman where a machine finds the registry that releases name by
// its address here.
func (s *service) registryElsewhere(t *testing.T) string {
	t.Helper()
	_, port, err := net.SplitHostPort(s.registry)
	require.NoError(t, err)
	config := fmt.Sprintf("[[registry]]\nprefix = %q\nlocation = %q\ninsecure = true\n", s.registry, net.JoinHostPort(vm.HostAddress, port))
	return text(t, map[string]any{
		"ignition": map[string]string{"version": "3.1.0"},
		"storage": map[string]any{"files": []any{map[string]any{
			"path": "/etc/containers/registries.conf.d/20-elsewhere.conf", "mode": 0o644,
			"contents": map[string]string{"source": "data:;base64," + base64.StdEncoding.EncodeToString([]byte(config))},
		}}},
	})
}

// await waits until a machine's host is as wanted.
func (s *service) await(t *testing.T, m *vm.Machine, infraEnv uuid.UUID, what string, wanted func(wire.Host) bool) wire.Host {
	t.Helper()
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	limit := time.After(await.Limit(t))
	var stage wire.HostStage
	for {
		hosts, err := s.client.ListHosts(t.Context(), infraEnv)
		require.NoError(t, err)
		require.Len(t, hosts, 1)
		if now := hosts[0].Progress.CurrentStage; now != stage {
			stage = now
			m.Mark(stagePrefix + string(stage))
		}
		if wanted(hosts[0]) {
			m.Mark(what)
			return hosts[0]
		}
		select {
		case <-ticker.C:
		case <-m.Done():
			require.Fail(t, "the machine switched itself off")
		case <-limit:
			require.Failf(
				t,
				"too long",
				"still waiting: %s; the host is %s: %s; %s",
				what,
				hosts[0].Status,
				hosts[0].StatusInfo,
				hosts[0].ValidationsInfo,
			)
		}
	}
}

// await waits for what a machine has to say that came up from its disk.
func (j *joined) await(t *testing.T, m *vm.Machine) hostReport {
	t.Helper()
	select {
	case report := <-j.reports:
		m.Mark("report")
		return report
	case <-m.Done():
		require.Fail(t, "the machine switched itself off")
	case <-time.After(await.Limit(t)):
		require.Fail(t, "no report")
	}
	return hostReport{}
}

// check looks at what came up from the disk.
func (i installation) check(t *testing.T, found hostReport, host wire.Host) {
	t.Helper()
	require.Equal(t, host.RequestedHostname, found.Hostname)
	require.Equal(t, "from the machine config server", found.File)
	require.Equal(t, "/dev/vda4", found.Root)
	require.Equal(t, i.address, found.Addresses)
	require.False(t, found.FirstBootAgain, "the next boot is no first one")
	arguments := strings.Fields(found.CommandLine)
	require.Contains(t, arguments, "bench.word=three")
	require.Contains(t, arguments, "ignition.firstboot")
	require.Contains(t, found.BootList, i.bootList)
}

// stages lists a host's stages as the service showed them; stages that last for less than a moment may be missing.
func stages(m *vm.Machine) (seen []string) {
	for _, mark := range m.Marks() {
		if stage, found := strings.CutPrefix(mark.Text, stagePrefix); found {
			seen = append(seen, stage)
		}
	}
	return seen
}

// writes lists the marks of the installer's calls.
func writes(m *vm.Machine) []vm.Mark {
	return slices.DeleteFunc(m.Marks(), func(mark vm.Mark) bool { return !strings.HasPrefix(mark.Text, "coreos-installer ") })
}
