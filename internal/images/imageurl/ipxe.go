package imageurl

import (
	"fmt"
	"strings"
	"time"

	"slipway/internal/images/remaster"
	"slipway/internal/model"
)

// FromDisk is the iPXE script that continues with the first disk (ipxe.org/cmd/sanboot).
const FromDisk = "#!ipxe\nsanboot --no-describe --drive 0x80 || exit 0\n"

// DiscoveryScript returns the iPXE script that boots a machine into the discovery image. Its arguments come from
// openshift/assisted-service (internal/bminventory/inventory_v2_handlers.go), where management controllers read the second serial line,
// with the first one beside it. None is about the network: without one, NetworkManager asks for addresses of both families on every
// interface (nm-initrd-generator(8)).
func (m *Maker) DiscoveryScript(e *model.InfraEnv, until time.Time) (string, error) {
	link, err := m.options.Identity.ImageLink(e, until)
	if err != nil {
		return "", err
	}
	arguments := []string{
		"initrd=initrd", "coreos.live.rootfs_url=" + m.artifact(m.boot, "rootfs", e),
		"random.trust_cpu=on", "rd.luks.options=discard", "ignition.firstboot", "ignition.platform.id=metal",
		"console=tty1", "console=ttyS0,115200n8", "console=ttyS1,115200n8",
		`coreos.inst.persistent-kargs="console=tty1 console=ttyS1,115200n8"`,
	}
	return fmt.Sprintf("#!ipxe\ninitrd --name initrd %s\nkernel %s %s\nboot\n", m.initrd(m.boot, e, link), m.artifact(m.boot, "kernel", e),
		strings.Join(remaster.ChangedArguments(arguments, e.KernelArguments), " ")), nil
}

// ChainScript returns the iPXE script that requests the script at path of the API again, with the MAC address of the
// interface the machine boots from.
func (m *Maker) ChainScript(e *model.InfraEnv, path string, until time.Time) (string, error) {
	link, err := m.options.Identity.ImageLink(e, until)
	if err != nil {
		return "", err
	}
	query := link.Query()
	query.Set("file_name", "ipxe-script")
	query.Set("ipxe_script_type", "boot-order-control")
	return fmt.Sprintf("#!ipxe\nchain %s%s?%s&mac=${net0/mac}\n", m.script, path, query.Encode()), nil
}
