package inventory

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"slipway/internal/wire"
)

// secureBoot is the EFI variable SecureBoot: four bytes of attributes, one of value.
const secureBoot = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

func readBoot(_ context.Context, m Machine, into *wire.Inventory) {
	boot := wire.Boot{CommandLine: m.text("/proc/cmdline"), CurrentBootMode: "bios", DeviceType: wire.Persistent}
	if m.exists("/sys/firmware/efi") {
		boot.CurrentBootMode = "uefi"
	}
	for _, word := range strings.Fields(boot.CommandLine) {
		if value, found := strings.CutPrefix(word, "BOOTIF="); found {
			boot.PxeInterface = value
		}
	}
	boot.SecureBootState = m.secureBoot(boot.CurrentBootMode)
	if m.live() {
		boot.DeviceType = wire.Ephemeral
	}
	into.Boot = boot
}

func (m Machine) secureBoot(mode string) wire.SecureBootState {
	if mode != "uefi" {
		return wire.SecureBootStateNotSupported
	}
	content, err := os.ReadFile(m.Root.Path(secureBoot))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return wire.SecureBootStateNotSupported
	case err != nil || len(content) != 5:
		return wire.SecureBootStateUnknown
	case content[4] == 1:
		return wire.SecureBootStateEnabled
	}
	return wire.SecureBootStateDisabled
}

// live says that the host runs from an image that a reboot forgets: /sysroot is on a loop device.
func (m Machine) live() bool {
	for _, mount := range m.mounts() {
		if mount.target == "/sysroot" {
			return strings.HasPrefix(mount.source, "/dev/loop")
		}
	}
	return false
}
