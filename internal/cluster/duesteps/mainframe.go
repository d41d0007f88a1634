package duesteps

import (
	"slices"
	"strings"

	"slipway/internal/model"
)

// mainframeDevices are parameters of the boot line that make devices of z/VM and LPAR visible: the installed system
// needs them as the live image did.
var mainframeDevices = []string{
	"rd.znet", "rd.dasd", "rd.zfcp", "zfcp.allow_lun_scan", "rd.znet_ifname", "cio_ignore", "rd.neednet",
}

// mainframeAddresses are parameters that are taken over on request only.
var mainframeAddresses = []string{"ip", "nameserver"}

// keepAddresses requests it: the MAC addresses of the host's NICs change from boot to boot, so that no lease and no
// static configuration by MAC address finds them.
const keepAddresses = "ai.ip_cfg_override=1"

// mainframeKargs lists the boot parameters that the installed system of a mainframe keeps, and reports whether addresses are among them
// (openshift/assisted-service, internal/host/hostcommands/install_cmd.go).
func mainframeKargs(h *model.Host) (kargs []string, addresses bool) {
	if h.Inventory == nil || h.Inventory.CPU.Architecture != archS390X {
		return nil, false
	}
	parameters := strings.Fields(h.Inventory.Boot.CommandLine)
	kept := mainframeDevices
	addresses = slices.ContainsFunc(parameters, func(p string) bool { return strings.EqualFold(p, keepAddresses) })
	if addresses {
		kept = slices.Concat(mainframeDevices, mainframeAddresses)
	}
	for _, p := range parameters {
		if name, _, _ := strings.Cut(p, "="); slices.Contains(kept, strings.ToLower(name)) {
			kargs = append(kargs, p)
		}
	}
	return kargs, addresses
}
