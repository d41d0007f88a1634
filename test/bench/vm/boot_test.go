package vm_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
	"slipway/test/bench/vm"
)

// static is an address that DHCP gives to no machine.
const static = "10.0.2.77/24"

// boot is a way of a machine into discovery.
type boot struct {
	number   int
	name     string
	image    wire.ImageType
	firmware vm.Firmware
	medium   vm.Medium
	// change sets what an environment has besides; check looks at the machine for it.
	change func(boot, *wire.InfraEnvCreateParams)
	check  func(*testing.T, wire.Inventory)
}

func TestSmokeFullImageBootsWithBIOS(t *testing.T) {
	t.Parallel()
	s := newService(t, needs(t))
	s.boots(t, boot{1, "full image with BIOS", wire.ImageTypeFullIso, vm.BIOS, vm.CD, nil, nil})
}

func TestMachinesBootIntoDiscovery(t *testing.T) {
	t.Parallel()
	system := needs(t)
	s := newService(t, system)
	for _, b := range []boot{
		{2, "full image with UEFI", wire.ImageTypeFullIso, vm.UEFI, vm.CD, nil, nil},
		{3, "minimal image with BIOS", wire.ImageTypeMinimalIso, vm.BIOS, vm.CD, nil, nil},
		{4, "minimal image with UEFI", wire.ImageTypeMinimalIso, vm.UEFI, vm.CD, nil, nil},
		{5, "minimal image as a USB stick with BIOS", wire.ImageTypeMinimalIso, vm.BIOS, vm.USB, nil, nil},
		{6, "minimal image as a USB stick with UEFI", wire.ImageTypeMinimalIso, vm.UEFI, vm.USB, nil, nil},
		{7, "network with BIOS", wire.ImageTypeFullIso, vm.BIOS, vm.Network, nil, nil},
		{8, "full image with a static address", wire.ImageTypeFullIso, vm.BIOS, vm.CD, staticAddress, hasStaticAddress},
		{9, "minimal image with a static address", wire.ImageTypeMinimalIso, vm.BIOS, vm.CD, staticAddress, hasStaticAddress},
		{10, "network with a static address", wire.ImageTypeMinimalIso, vm.BIOS, vm.Network, staticAddress, hasStaticAddress},
		{11, "full image with kernel arguments", wire.ImageTypeFullIso, vm.BIOS, vm.CD, kernelArguments, hasKernelArguments},
		{12, "minimal image with kernel arguments", wire.ImageTypeMinimalIso, vm.UEFI, vm.CD, kernelArguments, hasKernelArguments},
		{13, "full image with NMState", wire.ImageTypeFullIso, vm.BIOS, vm.CD, staticNMState, hasStaticAddress},
		{14, "minimal image with NMState", wire.ImageTypeMinimalIso, vm.UEFI, vm.CD, staticNMState, hasStaticAddress},
		{
			16, "full image with a static address where no server answers DHCP", wire.ImageTypeFullIso, vm.BIOS, vm.CD, withoutDHCP,
			hasStaticAddress,
		},
		{15, "network with NMState", wire.ImageTypeMinimalIso, vm.BIOS, vm.Network, staticNMState, hasStaticAddress},
	} {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			if strings.HasSuffix(b.name, "NMState") && !system.NMState {
				t.Skip("SKIP: the bench's system was built without nmstatectl (make bench-image-vm with cargo)")
			}
			s.boots(t, b)
		})
	}
}

func staticAddress(b boot, p *wire.InfraEnvCreateParams) {
	config := wire.HostStaticNetworkConfig{NetworkYaml: fmt.Sprintf(`
interfaces:
  - name: eth0
    type: ethernet
    state: up
    ipv4:
      enabled: true
      dhcp: false
      address: [{ip: %s, prefix-length: 24}]
    ipv6: {enabled: false}
dns-resolver: {config: {server: [10.0.2.3]}}
routes:
  config:
    - {destination: 0.0.0.0/0, next-hop-address: %s, next-hop-interface: eth0}
`, strings.TrimSuffix(static, "/24"), vm.HostAddress)}
	config.MacInterfaceMap = append(config.MacInterfaceMap, struct {
		LogicalNicName string `json:"logical_nic_name,omitempty,omitzero"`
		MacAddress     string `json:"mac_address"`
	}{"eth0", vm.MAC(b.number)})
	p.StaticNetworkConfig = &[]wire.HostStaticNetworkConfig{config}
}

// withoutDHCP: QEMU's network cannot do without, but the initramfs can be configured not to ask.
func withoutDHCP(b boot, p *wire.InfraEnvCreateParams) {
	staticAddress(b, p)
	p.KernelArguments = &wire.KernelArguments{{Operation: wire.Append, Value: "ip=off"}}
}

// staticNMState does the same for hosts that get the settings as they are.
func staticNMState(b boot, p *wire.InfraEnvCreateParams) {
	staticAddress(b, p)
	*p.OpenshiftVersion = nmstate
}

func hasStaticAddress(t *testing.T, found wire.Inventory) {
	require.Equal(t, []string{static}, addresses(found), "the addresses of the machine")
}

func kernelArguments(_ boot, p *wire.InfraEnvCreateParams) {
	p.KernelArguments = &wire.KernelArguments{
		{Operation: wire.Append, Value: "bench.word=one"},
		{Operation: wire.Delete, Value: "systemd.show_status=false"},
		{Operation: wire.Replace, Value: "loglevel=3=4"},
	}
}

func hasKernelArguments(t *testing.T, found wire.Inventory) {
	arguments := strings.Fields(found.Boot.CommandLine)
	require.Contains(t, arguments, "bench.word=one")
	require.NotContains(t, arguments, "systemd.show_status=false")
	require.Contains(t, arguments, "loglevel=4")
	require.NotContains(t, arguments, "loglevel=3")
}

// addresses lists the IPv4 addresses of a machine.
func addresses(found wire.Inventory) (all []string) {
	for _, i := range found.Interfaces {
		all = append(all, i.Ipv4Addresses...)
	}
	return all
}

// boots boots a machine and checks what its agent reports of it.
func (s *service) boots(t *testing.T, b boot) {
	t.Helper()
	e := s.environment(t, strings.ReplaceAll(b.name, " ", "-"), b.image, func(p *wire.InfraEnvCreateParams) {
		if b.change != nil {
			b.change(b, p)
		}
	})
	o := vm.Options{Number: b.number, Firmware: b.firmware, Medium: b.medium, Now: time.Now}
	if b.medium == vm.Network {
		o.BootFile = s.bootFile(t, e)
	}
	m := s.machine(t, o, e, b.name)
	found := s.inventory(t, m, e.ID)
	serial, err := os.ReadFile(m.SerialLog())
	require.NoError(t, err)
	require.NotContains(t, string(serial), "media was likely disconnected", "the medium is there")

	require.Equal(t, map[vm.Firmware]string{vm.BIOS: "bios", vm.UEFI: "uefi"}[b.firmware], found.Boot.CurrentBootMode)
	if b.check == nil {
		require.Equal(t, []string{vm.DHCPAddress}, addresses(found), "the addresses of the machine")
		return
	}
	b.check(t, found)
}

// bootFile serves a script that leads to the script of an InfraEnv, whose address is too long for QEMU's DHCP server.
func (s *service) bootFile(t *testing.T, e *wire.InfraEnv) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(
			w,
			"#!ipxe\nchain http://%s/api/assisted-install/v2/infra-envs/%s/downloads/files?file_name=ipxe-script\n",
			s.remote,
			e.ID,
		)
	})}
	go server.Serve(listener)
	t.Cleanup(func() { _ = server.Close() })
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return "http://" + net.JoinHostPort(vm.HostAddress, port) + "/boot.ipxe"
}
