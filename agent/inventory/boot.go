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

func readBoot(_ context.Context, m Machine, into *wire.Inventory) error {
	boot := wire.Boot{CommandLine: m.text("/proc/cmdline"), CurrentBootMode: "bios", DeviceType: m.bootDevice()}
	if info, err := os.Stat(m.Root.Path("/sys/firmware/efi")); err == nil && info.IsDir() {
		boot.CurrentBootMode = "uefi"
	}
	for word := range strings.FieldsSeq(boot.CommandLine) {
		if value, found := strings.CutPrefix(word, "BOOTIF="); found {
			boot.PxeInterface = value
			break
		}
	}
	boot.SecureBootState = m.secureBoot()
	into.Boot = boot
	return nil
}

// secureBoot reads the state of Secure Boot: not supported without the variable: on BIOS and on machines without keys.
func (m Machine) secureBoot() wire.SecureBootState {
	content, err := os.ReadFile(m.Root.Path(secureBoot))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return wire.SecureBootStateNotSupported
	case err != nil || len(content) != 5:
		return wire.SecureBootStateUnknown
	}
	switch content[4] {
	case 0:
		return wire.SecureBootStateDisabled
	case 1:
		return wire.SecureBootStateEnabled
	}
	return wire.SecureBootStateUnknown
}

// bootDevice distinguishes an image that a reboot forgets, whose /sysroot is on a loop device,
// from a system on a disk. Without a /sysroot it is neither, and nothing is claimed.
func (m Machine) bootDevice() wire.BootDeviceType {
	for _, mount := range m.mounts() {
		if mount.target != "/sysroot" {
			continue
		}
		if strings.HasPrefix(mount.source, "/dev/loop") {
			return wire.Ephemeral
		}
		return wire.Persistent
	}
	return ""
}

func readTPM(_ context.Context, m Machine, into *wire.Inventory) error {
	into.TpmVersion = wire.InventoryTpmVersionNone
	switch {
	case m.text("/sys/class/tpm/tpm0/tpm_version_major") == "2":
		into.TpmVersion = wire.InventoryTpmVersionN20
	case m.exists("/sys/class/tpm/tpm0"):
		into.TpmVersion = wire.InventoryTpmVersionN12 // older kernels tell no version of a 1.2
	}
	return nil
}
