package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

func TestSecretsOfAHostAreKeptAndNotShown(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	h := s.host(e.ID)
	body := s.want(http.StatusCreated, http.MethodPatch, hostPath(e.ID, h.ID), `{
		"fencing_credentials":{"address":"redfish+https://192.0.2.1/redfish/v1/Systems/1","username":"root","password":"hunter2","mac_address":"52:54:00:AA:BB:01"},
		"ignition_endpoint_token":"sesame","ignition_endpoint_http_headers":[{"key":"x-lab","value":"marmalade"}]}`)
	for _, secret := range []string{"hunter2", "sesame", "marmalade"} {
		require.NotContains(t, string(body.Body), secret)
	}
	var got wire.Host
	body.JSON(&got)
	require.True(t, got.IgnitionEndpointTokenSet)
	require.JSONEq(
		t,
		`{"address":"redfish+https://192.0.2.1/redfish/v1/Systems/1","username":"root","certificate_verification":"Enabled","mac_address":"52:54:00:aa:bb:01"}`,
		got.FencingCredentials,
	)
	stored, err := s.store.Host(t.Context(), e.ID, h.ID)
	require.NoError(t, err)
	require.Equal(t, model.Secret("hunter2"), stored.Fencing.Password)
	require.Equal(t, model.Secret("sesame"), stored.IgnitionEndpointToken)
	require.Equal(t, map[string]model.Secret{"X-Lab": "marmalade"}, stored.IgnitionEndpointHeaders)

	s.want(http.StatusCreated, http.MethodPatch, hostPath(e.ID, h.ID), `{
		"fencing_credentials":{"address":"","username":"","password":""},"ignition_endpoint_token":"","ignition_endpoint_http_headers":[]}`)
	got = s.readHost(e.ID, h.ID)
	require.False(t, got.IgnitionEndpointTokenSet)
	require.Empty(t, got.FencingCredentials)
	stored, err = s.store.Host(t.Context(), e.ID, h.ID)
	require.NoError(t, err)
	require.Empty(t, stored.IgnitionEndpointHeaders)
}

func TestWhatAHostAnsweredIsShown(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	h := s.host(e.ID)
	require.NotEmpty(t, h.RegisteredAt.Time())
	require.NotEmpty(t, h.CheckedInAt.Time())
	s.changeHost(e.ID, h.ID, func(h *model.Host) {
		h.Tang = &wire.TangConnectivityResponse{IsSuccess: true}
		h.IgnitionDownload = &wire.APIVipConnectivityResponse{IsSuccess: true, URL: "http://api:22624/config/worker"}
		h.FreeAddresses = wire.FreeNetworksAddresses{{Network: "192.0.2.0/24", FreeAddresses: []string{"192.0.2.9"}}}
	})
	got := s.want(http.StatusOK, http.MethodGet, hostPath(e.ID, h.ID), nil).Object()
	for _, field := range []string{"tang_connectivity", "api_vip_connectivity", "free_addresses", "inventory"} {
		requireJSONText(t, got, field)
	}
	require.Equal(t, "wwn-0x1", got["disks_to_be_formatted"])
}

func TestDiskIsChosenByAnyOfItsNames(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	h := s.host(e.ID)
	s.changeHost(e.ID, h.ID, func(h *model.Host) {
		h.Inventory.Disks[1].ByPath = "/dev/disk/by-path/pci-0000:00:1f.2-ata-2"
		h.Inventory.Disks[1].ByID = "/dev/disk/by-id/wwn-0x2"
	})
	for _, name := range []string{"wwn-0x2", "/dev/disk/by-path/pci-0000:00:1f.2-ata-2", "/dev/disk/by-id/wwn-0x2", "/dev/sdb"} {
		s.changeHost(e.ID, h.ID, func(h *model.Host) { h.InstallationDiskID = "wwn-0x1" })
		var got wire.Host
		s.want(http.StatusCreated, http.MethodPatch, hostPath(e.ID, h.ID), map[string]any{
			"disks_selected_config": []any{map[string]any{"id": name, "role": "install"}},
		}).JSON(&got)
		require.Equal(t, "/dev/sdb", got.InstallationDiskPath, name)
	}
}

func TestValidationThatIsResetAsksTheHostAgain(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	h := s.host(e.ID)
	asked := model.FactRecord{StepID: "x"}
	fill := func(h *model.Host) {
		h.Images = []wire.ContainerImageAvailability{{Name: "a", Result: wire.ContainerImageAvailabilityResultFailure}}
		h.DiskSpeed = map[string]model.DiskSpeed{"/dev/sda": {Tested: true, ExitCode: 1}}
		h.Facts = model.Facts{"container-image-availability": asked, "installation-disk-speed-check": asked, "inventory": asked}
	}
	path := hostPath(e.ID, h.ID) + "/actions/reset-validation/"
	s.changeHost(e.ID, h.ID, fill)
	s.want(http.StatusOK, http.MethodPatch, path+"container-images-available", nil)
	stored, err := s.store.Host(t.Context(), e.ID, h.ID)
	require.NoError(t, err)
	require.Empty(t, stored.Images)
	require.NotContains(t, stored.Facts, model.Fact("container-image-availability"))
	require.Contains(t, stored.Facts, model.Fact("installation-disk-speed-check"))
	require.NotEmpty(t, stored.DiskSpeed)
	got := s.want(http.StatusOK, http.MethodPatch, path+"sufficient-installation-disk-speed", nil).Object()
	require.Equal(t, h.ID.String(), got["id"])
	require.NotContains(t, got, "disks_info")
	stored, err = s.store.Host(t.Context(), e.ID, h.ID)
	require.NoError(t, err)
	require.Equal(t, model.Facts{"inventory": asked}, stored.Facts)

	reason := s.send(http.MethodPatch, path+"has-inventory", nil).Reason(http.StatusBadRequest)
	require.Contains(t, reason, "container-images-available or sufficient-installation-disk-speed")
	require.Contains(t, reason, `found "has-inventory"`)
	s.send(http.MethodPatch, hostPath(e.ID, uuid.New())+"/actions/reset-validation/container-images-available", nil).
		Reason(http.StatusNotFound)
	s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Status = model.HostInstalling })
	s.send(http.MethodPatch, path+"container-images-available", nil).Reason(http.StatusConflict)
}
