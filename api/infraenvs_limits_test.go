package api_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/testing/unraced"
)

// noise makes text that nothing packs.
func noise(size int) string {
	return base64.RawStdEncoding.EncodeToString(randomBytes(size * 3 / 4))
}

// overrideOf makes a config with a file of that many bytes.
func overrideOf(size int) string {
	return `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/large","contents":{"source":"data:;base64,` + noise(
		size/4*4,
	) + `"}}]}}`
}

func TestSettingsThatDoNotFitIntoAnImageAreRefused(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	for name, c := range map[string]struct {
		body map[string]any
		want string
	}{
		"an override": {
			map[string]any{"ignition_config_override": overrideOf(400_000)},
			`at most 262144 bytes packed, found 3\d{5}; largest: ignition_config_override 30\d{4}, `,
		},
		"keys":     {map[string]any{"ssh_authorized_key": manyKeys(100)}, "largest: ssh_authorized_key "},
		"networks": {map[string]any{"static_network_config": networks(200)}, "largest: static_network_config "},
	} {
		require.Regexp(t, c.want, s.send(http.MethodPatch, envPath(e.ID), c.body).Reason(http.StatusBadRequest), name)
		c.body["name"], c.body["pull_secret"] = "large", pullSecret
		require.Regexp(t, c.want, s.send(http.MethodPost, "/v2/infra-envs", c.body).Reason(http.StatusBadRequest), name)
	}
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), map[string]any{"ignition_config_override": overrideOf(320_000)})
	reason := s.send(http.MethodPatch, envPath(e.ID), map[string]any{"additional_trust_bundle": certificates(t, 90)}).
		Reason(http.StatusBadRequest)
	require.Regexp(t, "largest: ignition_config_override 2\\d{5}, additional_trust_bundle 1", reason, "one after the other")
	s.want(http.StatusOK, http.MethodGet, envPath(e.ID)+"/downloads/files?file_name=discovery.ign", nil)
}

func TestNetworkSettingsOfAMinimalImageAreBesideItsConfig(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	s.want(
		http.StatusCreated,
		http.MethodPatch,
		envPath(e.ID),
		map[string]any{"image_type": "minimal-iso", "static_network_config": networks(200)},
	)
	require.Contains(
		t,
		s.send(http.MethodPatch, envPath(e.ID), `{"image_type":"full-iso"}`).Reason(http.StatusBadRequest),
		"largest: static_network_config",
	)
	body := map[string]any{"static_network_config": networks(825)}
	require.Contains(t, s.send(http.MethodPatch, envPath(e.ID), body).Reason(http.StatusBadRequest), "require at most 1048576 bytes packed")
}

func TestOverrideThatContradictsOursIsRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	config := `{"ignition":{"version":"3.2.0"},"storage":{"links":[{"path":"/etc/slipway","target":"/x"}]}}`
	reason := s.send(http.MethodPatch, envPath(e.ID), map[string]any{"ignition_config_override": config}).Reason(http.StatusBadRequest)
	require.Contains(t, reason, "ignition_config_override")
}

// Settings that are no part of a config are changed without making one, which may take long, or may not work since the rules became
// stricter.
func TestSettingsBesideTheConfigAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	_, err := s.store.UpdateInfraEnv(t.Context(), e.ID, func(e *model.InfraEnv, _ *store.Tx) error {
		e.StaticNetworkConfig = "{" // taken by an earlier version
		return nil
	})
	require.NoError(t, err)
	s.want(
		http.StatusCreated,
		http.MethodPatch,
		envPath(e.ID),
		`{"kernel_arguments":[{"operation":"append","value":"quiet"}],"rendezvous_ip":"192.0.2.7"}`,
	)
	require.Contains(
		t,
		s.send(http.MethodPatch, envPath(e.ID), `{"additional_ntp_sources":"ntp.example"}`).Reason(http.StatusBadRequest),
		"have to be set again",
	)
	s.want(
		http.StatusCreated,
		http.MethodPatch,
		envPath(e.ID),
		`{"additional_ntp_sources":"ntp.example","static_network_config":[`+staticHost+`]}`,
	)
}

func TestOverrideNewerThanTheImageIsRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(uuid.Nil)
	body := map[string]any{"openshift_version": "4.16.68", "ignition_config_override": "variant: fcos\nversion: 1.6.0\n"}
	require.Contains(
		t,
		s.send(http.MethodPatch, envPath(e.ID), body).Reason(http.StatusBadRequest),
		"require at most 3.4.0, which the system of OpenShift 4.16.68 reads, found 3.5.0",
	)
	body["openshift_version"] = "4.22.1"
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), body)
	require.Contains(
		t,
		s.send(http.MethodPatch, envPath(e.ID), `{"openshift_version":"4.16.68"}`).Reason(http.StatusBadRequest),
		"require at most 3.4.0",
	)
}

// certificates makes the PEM of so many certificates, each with a serial number and name of its own.
func certificates(t *testing.T, count int) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	var out strings.Builder
	for i := range count {
		template := x509.Certificate{
			SerialNumber: big.NewInt(int64(i)),
			Subject:      pkix.Name{CommonName: noise(400)[:60]},
			NotAfter:     time.Now().AddDate(1, 0, 0),
		}
		der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
		require.NoError(t, err)
		require.NoError(t, pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	return out.String()
}

// manyKeys makes lines with a key and a comment that nothing packs.
func manyKeys(count int) string {
	var out strings.Builder
	for range count {
		out.WriteString(sshKey + noise(4096) + "\n")
	}
	return out.String()
}

// networks makes settings of so many hosts, each with 1600 random bytes.
func networks(count int) []any {
	out := make([]any, count)
	for i := range out {
		search := make([]string, 16)
		for n := range search {
			search[n] = fmt.Sprintf("%x.%x.%x.%x.example", randomBytes(25), randomBytes(25), randomBytes(25), randomBytes(25))
		}
		out[i] = map[string]any{
			"network_yaml": "interfaces: [{name: eth0, type: ethernet, ipv4: {enabled: true, dhcp: true}}]\n" +
				"dns-resolver: {config: {search: [" + strings.Join(search, ", ") + "]}}\n",
			"mac_interface_map": []any{
				map[string]any{
					"mac_address":      fmt.Sprintf("52:54:00:%02x:%02x:%02x", i>>16&255, i>>8&255, i&255),
					"logical_nic_name": "eth0",
				},
			},
		}
	}
	return out
}

func randomBytes(size int) []byte {
	data := make([]byte, size)
	_, _ = rand.Read(data) // never fails
	return data
}
