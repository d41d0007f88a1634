package api

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"slipway/internal/images/remaster"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// fromDisk has the firmware go on with the first disk (ipxe.org/cmd/sanboot).
const fromDisk = "#!ipxe\nsanboot --no-describe --drive 0x80 || exit 0\n"

// ipxeScript boots a machine into the discovery image over the network. With the control
// of the boot order it first asks who boots: an installed host goes to its disk.
func (s *server) ipxeScript(ctx context.Context, e *model.InfraEnv, p wire.V2DownloadInfraEnvFilesParams) ([]byte, error) {
	query, err := s.imageQuery(e)
	if err != nil {
		return nil, err
	}
	if p.IpxeScriptType == wire.V2DownloadInfraEnvFilesParamsIpxeScriptTypeBootOrderControl {
		if p.Mac == "" {
			return []byte(s.askForMAC(e, query)), nil
		}
		hosts, err := s.Store.HostsOfMAC(ctx, e.ID, strings.ReplaceAll(p.Mac, "-", ":"))
		if err != nil {
			return nil, err
		}
		if len(hosts) > 0 && bootsFromDisk(hosts[0]) {
			return []byte(fromDisk), nil
		}
	}
	return []byte(s.discoveryScript(e, query)), nil
}

// askForMAC comes back with the address of the interface that the machine boots from.
func (s *server) askForMAC(e *model.InfraEnv, query url.Values) string {
	query.Set("file_name", string(wire.V2DownloadInfraEnvFilesParamsFileNameIpxeScript))
	query.Set("ipxe_script_type", string(wire.V2DownloadInfraEnvFilesParamsIpxeScriptTypeBootOrderControl))
	return fmt.Sprintf("#!ipxe\nchain %s%s/v2/infra-envs/%s/downloads/files?%s&mac=${net0/mac}\n", s.BaseURL, BasePath, e.ID, query.Encode())
}

func (s *server) discoveryScript(e *model.InfraEnv, query url.Values) string {
	artifact := url.Values{"arch": {e.CPUArchitecture}, "version": {s.imageVersion(e)}}.Encode()
	query.Set("arch", e.CPUArchitecture)
	query.Set("version", s.imageVersion(e))
	arguments := append([]string{
		"initrd=initrd", "coreos.live.rootfs_url=" + s.ImageServiceURL + "/boot-artifacts/rootfs?" + artifact,
		"random.trust_cpu=on", "rd.luks.options=discard", "ignition.firstboot", "ignition.platform.id=metal",
		"console=tty1", "console=ttyS0,115200n8",
	}, discoveryArguments(e)...)
	return fmt.Sprintf("#!ipxe\ninitrd --name initrd %s/images/%s/pxe-initrd?%s\nkernel %s/boot-artifacts/kernel?%s %s\nboot\n",
		s.ImageServiceURL, e.ID, query.Encode(), s.ImageServiceURL, artifact, strings.Join(remaster.ChangedArguments(arguments, e.KernelArguments), " "))
}

// discoveryArguments are those that an environment's settings ask for.
func discoveryArguments(e *model.InfraEnv) []string {
	if e.StaticNetworkConfig != "" {
		return nil // its network comes with the initramfs
	}
	return []string{"ip=dhcp"}
}

// bootsFromDisk reports whether a host has its system on the disk already.
func bootsFromDisk(h *model.Host) bool {
	switch h.Status {
	case model.HostInstalled, model.HostAddedToExistingCluster:
		return true
	case model.HostInstallingInProgress, model.HostInstallingPendingUserAction:
		return h.Stage.LeftLiveImage()
	}
	return false
}
