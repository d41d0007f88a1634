package api

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// showBootArtifacts returns the addresses of what machines boot from over the network, and of the files that a discovery image contains.
func (s *server) showBootArtifacts(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r, "infra_env_id")
	if err != nil {
		return err
	}
	e, err := s.Store.InfraEnv(r.Context(), id)
	if err != nil {
		return err
	}
	boot, err := s.images.BootArtifacts(e)
	if err != nil {
		return err
	}
	link, err := s.Identity.ImageLink(e, time.Time{})
	if err != nil {
		return err
	}
	token, err := s.Identity.AgentToken(e)
	if err != nil {
		return err
	}
	file := func(base, name, script string) string {
		query := link.Query()
		query.Set("file_name", name)
		if script != "" {
			query.Set("ipxe_script_type", script)
		}
		return strings.TrimSuffix(base, "/") + wire.BasePath + "/v2/infra-envs/" + id.String() + "/downloads/files?" + query.Encode()
	}
	scripts := cmp.Or(s.BootURL, s.BaseURL) // iPXE trusts public authorities only
	return ok(w, wire.BootArtifacts{
		KernelURL: boot.KernelURL, InitrdURL: boot.InitrdURL, RootfsURL: boot.RootfsURL,
		IpxeScriptURL: file(scripts, "ipxe-script", ""), IpxeDiskScriptURL: file(scripts, "ipxe-script", "boot-order-control"),
		DiscoveryIgnitionURL: file(s.BaseURL, "discovery.ign", ""), StaticNetworkURL: file(s.BaseURL, "static-network-config", ""),
		EventsURL: s.eventsAddress(id), ExpiresAt: wire.DateTime(link.ExpiresAt),
		ImageTokenExpiresAt: wire.DateTime(token.Until),
	})
}

// eventsAddress returns the address of the events of an InfraEnv. It has no credential: the address of an image opens no events.
func (s *server) eventsAddress(infraEnvID uuid.UUID) string {
	return s.BaseURL + wire.BasePath + "/v2/events?" + url.Values{"infra_env_id": {infraEnvID.String()}}.Encode()
}
