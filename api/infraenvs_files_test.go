package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cavaliergopher/cpio"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/testing/tartest"
	"slipway/internal/wire"
)

func envPath(id uuid.UUID) string { return "/v2/infra-envs/" + id.String() }

// setStatic gives an InfraEnv network settings of one host.
func (s *service) setStatic(id uuid.UUID) {
	s.t.Helper()
	s.want(http.StatusCreated, http.MethodPatch, envPath(id), `{"static_network_config":[`+staticHost+`]}`)
}

func TestNetworkSettingsComeWithAFullImageAndBeforeAMinimalOne(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	file := envPath(e.ID) + "/downloads/files?file_name="
	s.want(http.StatusNoContent, http.MethodGet, envPath(e.ID)+"/downloads/minimal-initrd", nil)
	s.send(http.MethodGet, file+"static-network-config", nil).Reason(http.StatusNotFound)
	require.NotContains(t, string(s.want(http.StatusOK, http.MethodGet, file+"discovery.ign", nil).Body), "pre-network-manager-config")

	s.setStatic(e.ID)
	for version, settings := range map[string][2]string{ // from 4.18 on hosts apply NMState themselves
		"4.16.68": {"eth0.nmconnection", "method=auto"}, "4.22.9": {"network.yml", "dhcp: true"},
	} {
		s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), map[string]any{"openshift_version": version})
		name := "etc/assisted/network/host0/" + settings[0]
		for query, found := range map[string]bool{
			"discovery.ign": true, "discovery.ign&discovery_iso_type=full-iso": true, "discovery.ign&discovery_iso_type=minimal-iso": false,
		} {
			config := string(s.want(http.StatusOK, http.MethodGet, file+query, nil).Body)
			require.True(t, json.Valid([]byte(config)))
			for _, part := range []string{
				"pre-network-manager-config.service", "/" + name, "/etc/assisted/network/host0/mac_interface.ini",
			} {
				require.Equal(t, found, strings.Contains(config, part), "%s %s", query, part)
			}
		}
		r := s.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/downloads/minimal-initrd", nil)
		require.Equal(t, `attachment; filename="initrd.img"`, r.Header.Get("Content-Disposition"))
		require.NotEmpty(t, r.Header.Get("Last-Modified"))
		require.Contains(t, cpioNames(t, r.Body), name)

		files := tartest.Files(t, s.want(http.StatusOK, http.MethodGet, file+"static-network-config", nil).Body)
		require.Equal(t, "52:54:00:aa:bb:01=eth0\n", files["etc/assisted/network/host0/mac_interface.ini"])
		require.Contains(t, files[name], settings[1])
	}
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), `{"static_network_config":[]}`)
	s.want(http.StatusNoContent, http.MethodGet, envPath(e.ID)+"/downloads/minimal-initrd", nil)
}

func cpioNames(t *testing.T, packed []byte) []string {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	reader, names := cpio.NewReader(plain), []string{}
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		require.NoError(t, err)
		names = append(names, header.Name)
	}
}

func TestProxyComesBeforeAMinimalImage(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), `{"proxy":{"http_proxy":"http://proxy.example:3128"}}`)
	r := s.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/downloads/minimal-initrd", nil)
	require.Contains(t, cpioNames(t, r.Body), "etc/systemd/system/coreos-livepxe-rootfs.service.d/10-slipway-proxy.conf")
	s.send(http.MethodGet, envPath(uuid.New())+"/downloads/minimal-initrd", nil).Reason(http.StatusNotFound)
}

func TestDelayOfDiscoveryIsWaitedByTheAgent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), `{"network_discovery_delay_seconds":45}`)
	config := string(s.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/downloads/files?file_name=discovery.ign", nil).Body)
	require.Contains(t, config, "ExecStart=/usr/bin/sleep 45")
	require.Contains(t, config, "Wants=network-discovery-delay.service")
}

func TestTimeSourcesAddToThoseOfTheHostOrTakeTheirPlace(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	patch := func(body string) map[string]any {
		return s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), body).Object()
	}
	got := patch(`{"additional_ntp_sources":"a.example"}`)
	require.Equal(t, "a.example", got["additional_ntp_sources"])
	require.NotContains(t, got, "ntp_sources")
	got = patch(`{"ntp_sources":"b.example, 192.0.2.1"}`)
	require.Equal(t, "b.example,192.0.2.1", got["ntp_sources"])
	require.NotContains(t, got, "additional_ntp_sources")
	require.NotContains(t, patch(`{"ntp_sources":""}`), "ntp_sources")
}

func TestScriptBootsTheDiscoveryImageWithTheUsersArguments(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	path := envPath(e.ID) + "/downloads/files?file_name=ipxe-script"
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), `{"kernel_arguments":[
		{"operation":"append","value":"rd.break=\"a b\""},{"operation":"delete","value":"rd.luks.options=discard"},
		{"operation":"replace","value":"console=tty1=tty0"}]}`)
	script := string(s.want(http.StatusOK, http.MethodGet, path, nil).Body)
	require.Regexp(
		t,
		`^#!ipxe\ninitrd --name initrd http://service.example:8090/images/`+e.ID.String()+`/pxe-initrd\?arch=x86_64&version=4.22.9\n`,
		script,
	)
	require.Contains(t, script, "kernel http://service.example:8090/boot-artifacts/kernel?arch=x86_64&version=4.22.9 initrd=initrd ")
	require.Contains(t, script, `rd.break="a b"`)
	require.Contains(t, script, " console=tty0 ")
	require.NotContains(t, script, "rd.luks.options")
	require.NotContains(t, script, " ip=")
	s.setStatic(e.ID)
	require.NotContains(t, string(s.want(http.StatusOK, http.MethodGet, path, nil).Body), " ip=")
}

func TestScriptOfTheBootOrderSendsInstalledHostsToTheirDisk(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	h := s.host(e.ID)
	s.changeHost(e.ID, h.ID, func(h *model.Host) {
		h.Inventory.Interfaces = []wire.Interface{{Name: "eth0", MacAddress: "52:54:00:aa:bb:01"}}
	})
	path := envPath(e.ID) + "/downloads/files?file_name=ipxe-script&ipxe_script_type=boot-order-control"
	first := string(s.want(http.StatusOK, http.MethodGet, path, nil).Body)
	require.Equal(t, "#!ipxe\nchain http://service.example:8090"+base+envPath(e.ID)+
		"/downloads/files?file_name=ipxe-script&ipxe_script_type=boot-order-control&mac=${net0/mac}\n", first)
	for _, c := range []struct {
		name   string
		status model.HostStatus
		stage  model.Stage
		mac    string
		disk   bool
	}{
		{"a host in discovery", model.HostKnown, "", "52:54:00:aa:bb:01", false},
		{"a host that writes its disk", model.HostInstallingInProgress, model.StageWritingImageToDisk, "52:54:00:aa:bb:01", false},
		{"a host that reboots", model.HostInstallingInProgress, model.StageRebooting, "52:54:00:aa:bb:01", true},
		{"a host that booted the wrong thing", model.HostInstallingPendingUserAction, model.StageRebooting, "52-54-00-AA-BB-01", true},
		{"an installed host", model.HostInstalled, model.StageDone, "52:54:00:aa:bb:01", true},
		{"a host added to a cluster", model.HostAddedToExistingCluster, model.StageDone, "52:54:00:aa:bb:01", true},
		{"a failed host", model.HostError, model.StageRebooting, "52:54:00:aa:bb:01", false},
		{"an unknown machine", model.HostInstalled, model.StageDone, "52:54:00:00:00:00", false},
	} {
		s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Status, h.Stage = c.status, c.stage })
		script := string(s.want(http.StatusOK, http.MethodGet, path+"&mac="+url.QueryEscape(c.mac), nil).Body)
		require.Equal(t, c.disk, bytes.Contains([]byte(script), []byte("sanboot")), c.name)
		require.Equal(t, !c.disk, bytes.Contains([]byte(script), []byte("kernel ")), c.name)
		stored := envPath(e.ID) + "/downloads/files?file_name=ipxe-script&mac=" + url.QueryEscape(c.mac)
		require.Equal(t, script, string(s.want(http.StatusOK, http.MethodGet, stored, nil).Body), c.name)
	}
}
