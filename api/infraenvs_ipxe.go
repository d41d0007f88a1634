package api

import (
	"context"
	"strings"
	"time"

	"slipway/internal/images/imageurl"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// ipxeScript boots a machine over the network into the discovery image. With control of the boot order it first asks
// for the MAC address: an installed host boots from its disk. Scripts of openshift/assisted-service that sites have stored
// send the MAC address alone (internal/bminventory/inventory_v2_handlers.go, V2DownloadInfraEnvFiles).
//
// Its addresses end at until, if that is not zero: a script that was fetched by an address opens nothing for longer than that.
func (s *server) ipxeScript(
	ctx context.Context, e *model.InfraEnv, p wire.V2DownloadInfraEnvFilesParams, until time.Time,
) ([]byte, error) {
	controlled := p.IpxeScriptType == wire.V2DownloadInfraEnvFilesParamsIpxeScriptTypeBootOrderControl
	if controlled && p.Mac == "" {
		script, err := s.images.ChainScript(e, wire.BasePath+"/v2/infra-envs/"+e.ID.String()+"/downloads/files", until)
		return []byte(script), err
	}
	if p.Mac != "" {
		hosts, err := s.Store.HostsOfMAC(ctx, e.ID, strings.ReplaceAll(p.Mac, "-", ":"))
		if err != nil {
			return nil, err
		}
		if len(hosts) > 0 && bootsFromDisk(hosts[0]) {
			return []byte(imageurl.FromDisk), nil
		}
	}
	script, err := s.images.DiscoveryScript(e, until)
	return []byte(script), err
}

// bootsFromDisk reports whether the operating system of a host is on its disk.
func bootsFromDisk(h *model.Host) bool {
	switch h.Status {
	case model.HostInstalled, model.HostAddedToExistingCluster:
		return true
	case model.HostInstallingInProgress, model.HostInstallingPendingUserAction:
		return h.Stage.LeftLiveImage()
	}
	return false
}
