package installer

import (
	"context"
	"runtime"

	"slipway/internal/wire"
)

// efiPartition is the number of the EFI system partition on a CoreOS disk.
const efiPartition = "2"

// shims are the loaders firmware starts on a CoreOS disk, by architecture.
var shims = map[string]string{
	"amd64": `\EFI\redhat\shimx64.efi`,
	"arm64": `\EFI\redhat\shimaa64.efi`,
}

// SetBootOrder makes the firmware start from the boot device next. Where that does not
// work the order of the firmware stays, and the service notices a host that came up from
// the wrong device.
func (i *Installer) SetBootOrder(ctx context.Context, req *wire.InstallCmdRequest) {
	device, err := i.device(req)
	if err != nil {
		i.Log.Warn("boot order not set", "error", err)
		return
	}
	var argv []string
	shim, efi := shims[runtime.GOARCH]
	switch {
	case runtime.GOARCH == "ppc64le":
		argv = []string{"bootlist", "-m", "normal", "-o", device}
	case efi && i.exists("/sys/firmware/efi"):
		argv = []string{"efibootmgr", "-c", "-d", device, "-p", efiPartition, "-L", "Red Hat Enterprise Linux", "-l", shim}
	default:
		return // BIOS and s390x choose by themselves
	}
	if err := i.command(ctx, argv...); err != nil {
		i.Log.Warn("boot order not set", "error", err)
	}
}
