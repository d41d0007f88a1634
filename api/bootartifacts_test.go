package api_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/auth"
	"slipway/internal/wire"
)

// Each address opens what it names without a credential beside it, except the address of events.
func TestBootArtifactsAreWhereMachinesGetThem(t *testing.T) {
	t.Parallel()
	l := newPerHost(t)
	admin := l.as("ann", "", auth.RoleAdmin)
	var e wire.InfraEnv
	body := map[string]any{"name": "env", "pull_secret": pullSecret}
	l.closed.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", body, admin...).JSON(&e)
	l.setStatic(e.ID)
	var found wire.BootArtifacts
	l.closed.want(http.StatusOK, http.MethodGet, "/api/slipway/v1/infra-envs/"+e.ID.String()+"/boot-artifacts", nil, admin...).JSON(&found)
	require.False(t, found.ExpiresAt.Time().Before(e.ExpiresAt.Time()), "each answer signs its addresses")

	path := func(address string) string {
		at, err := url.Parse(address)
		require.NoError(t, err)
		return at.Path + "?" + at.RawQuery
	}
	for address, begins := range map[string]string{
		found.IpxeScriptURL: "#!ipxe\ninitrd", found.IpxeDiskScriptURL: "#!ipxe\nchain", found.DiscoveryIgnitionURL: `{"ignition"`,
	} {
		at, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, base+envPath(e.ID)+"/downloads/files", at.Path)
		r := l.closed.want(http.StatusOK, http.MethodGet, path(address)[len(base):], nil)
		require.Contains(t, string(r.Body), begins)
	}
	l.closed.want(http.StatusOK, http.MethodGet, path(found.StaticNetworkURL)[len(base):], nil)
	require.Contains(t, path(found.KernelURL), "/boot-artifacts/kernel?arch=x86_64&version=")
	require.Contains(t, path(found.RootfsURL), "/boot-artifacts/rootfs?arch=x86_64&version=")
	require.Contains(t, path(found.InitrdURL), "/images/"+e.ID.String()+"/pxe-initrd?")
	require.Contains(t, path(found.InitrdURL), "api_key=")
	l.closed.want(http.StatusUnauthorized, http.MethodGet, path(found.EventsURL)[len(base):], nil)
	l.closed.want(http.StatusOK, http.MethodGet, path(found.EventsURL)[len(base):], nil, admin...)
	l.closed.want(http.StatusNotFound, http.MethodGet, "/api/slipway/v1/infra-envs/"+uuid.NewString()+"/boot-artifacts", nil, admin...)
}

// An update that changes nothing is no change: those who follow the feed, and repeat what they want, do not wake themselves.
func TestAnUpdateWithoutAChangeIsNone(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	update := map[string]any{
		"ssh_authorized_key": "", "additional_ntp_sources": "a.example.com,b.example.com", "ntp_sources": "",
		"kernel_arguments": []any{map[string]any{"operation": "append", "value": "a=b"}}, "pull_secret": pullSecret,
		"proxy": map[string]any{"http_proxy": "http://proxy.example.com:3128"}, "static_network_config": []any{},
		"ignition_config_override": "", "additional_trust_bundle": "", "network_discovery_delay_seconds": 5,
	}
	var first, second wire.InfraEnv
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), update).JSON(&first)
	require.NotEqual(t, e.UpdatedAt, first.UpdatedAt)
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), update).JSON(&second)
	require.Equal(t, first.UpdatedAt, second.UpdatedAt)
	update["additional_ntp_sources"] = "a.example.com"
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), update).JSON(&second)
	require.NotEqual(t, first.UpdatedAt, second.UpdatedAt)
}
