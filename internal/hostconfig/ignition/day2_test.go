package ignition_test

import (
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/model"
)

// dayTwoConfig has the fields of a day-2 config that tests read.
type dayTwoConfig struct {
	Ignition struct {
		Version string
		Config  struct {
			Merge []struct {
				Source      string
				HTTPHeaders []struct{ Name, Value string }
			}
		}
		Security struct {
			TLS struct {
				CertificateAuthorities []struct{ Source string }
			}
		}
	}
}

func TestDayTwoConfigPointsToTheCluster(t *testing.T) {
	t.Parallel()
	authority := base64.StdEncoding.EncodeToString([]byte("-----BEGIN CERTIFICATE-----"))
	for name, tt := range map[string]struct {
		cluster model.Cluster
		host    model.Host
		source  string
		headers map[string]string
		ca      bool
	}{
		"by the name of its API": {
			cluster: model.Cluster{APIVIPDNSName: "api.prod.example.com", APIVIPs: []model.VIP{{IP: netip.MustParseAddr("192.0.2.5")}}},
			source:  "http://api.prod.example.com:22624/config/worker",
		},
		"by its address when there is no name": {
			cluster: model.Cluster{APIVIPs: []model.VIP{{IP: netip.MustParseAddr("2001:db8::5")}}},
			source:  "http://[2001:db8::5]:22624/config/worker",
		},
		"by the name it was installed with": {
			cluster: model.Cluster{Name: "prod", BaseDNSDomain: "example.com"},
			host:    model.Host{Role: model.RoleMaster},
			source:  "http://api.prod.example.com:22624/config/master",
		},
		"to the pool of its user": {
			cluster: model.Cluster{APIVIPDNSName: "api.x"}, host: model.Host{MachineConfigPoolName: "infra"},
			source: "http://api.x:22624/config/infra",
		},
		"to the endpoint of its user": {
			cluster: model.Cluster{
				IgnitionEndpoint: model.IgnitionEndpoint{URL: "https://ign.example.com:8443/nodes/", CACertificate: authority},
			},
			host: model.Host{
				IgnitionEndpointToken: "t0ken", IgnitionEndpointHeaders: map[string]model.Secret{"X-Pool": "blue"},
			},
			source: "https://ign.example.com:8443/nodes/worker", ca: true,
			headers: map[string]string{"X-Pool": "blue", "Authorization": "Bearer t0ken"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.host.ID, tt.host.RequestedHostname = uuid.New(), "extra-0"
			data, err := ignition.DayTwo(&tt.cluster, &tt.host)
			require.NoError(t, err)
			var config dayTwoConfig
			require.NoError(t, json.Unmarshal(data, &config))
			require.Equal(t, "3.2.0", config.Ignition.Version)
			require.Len(t, config.Ignition.Config.Merge, 1)
			require.Equal(t, tt.source, config.Ignition.Config.Merge[0].Source)
			headers := map[string]string{}
			for _, h := range config.Ignition.Config.Merge[0].HTTPHeaders {
				headers[h.Name] = h.Value
			}
			require.Len(t, headers, len(tt.headers))
			for name, value := range tt.headers {
				require.Equal(t, value, headers[name])
			}
			require.Len(t, config.Ignition.Security.TLS.CertificateAuthorities, map[bool]int{true: 1}[tt.ca])
			d, err := document.Parse(data)
			require.NoError(t, err)
			file, err := d.File("/etc/hostname")
			require.NoError(t, err)
			content, err := file.Content()
			require.NoError(t, err)
			require.Equal(t, "extra-0", string(content))
		})
	}
}

// No controller of Slipway runs in a cluster that exists already: the kubelet registers with the labels (openshift machine configs pass
// CUSTOM_KUBELET_LABELS to it).
func TestDayTwoConfigHasTheLabelsOfTheNode(t *testing.T) {
	t.Parallel()
	const path = "/etc/systemd/system/kubelet.service.d/30-node-labels.conf"
	h := &model.Host{ID: uuid.New(), NodeLabels: map[string]string{
		"site": "lab", "example.com/rack": "r1", "node-role.kubernetes.io/infra": "",
	}}
	data, err := ignition.DayTwo(&model.Cluster{APIVIPDNSName: "api.x"}, h)
	require.NoError(t, err)
	d, err := document.Parse(data)
	require.NoError(t, err)
	file, err := d.File(path)
	require.NoError(t, err)
	content, err := file.Content()
	require.NoError(t, err)
	require.Equal(t, "[Service]\nEnvironment=\"CUSTOM_KUBELET_LABELS=example.com/rack=r1,site=lab\"\n", string(content))

	for _, labels := range []map[string]string{nil, {"node-role.kubernetes.io/infra": ""}} {
		h.NodeLabels = labels
		data, err = ignition.DayTwo(&model.Cluster{APIVIPDNSName: "api.x"}, h)
		require.NoError(t, err)
		require.NotContains(t, string(data), path)
	}
}

func TestDayTwoConfigTakesOverridesAndTellsWhatIsWrongWithThem(t *testing.T) {
	t.Parallel()
	c := &model.Cluster{APIVIPDNSName: "api.x"}
	h := &model.Host{
		ID:                      uuid.New(),
		IgnitionConfigOverrides: `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/x","contents":{"source":"data:,y"}}]}}`,
	}
	data, err := ignition.DayTwo(c, h)
	require.NoError(t, err)
	require.Contains(t, string(data), "/etc/x")

	h.IgnitionConfigOverrides = "{"
	_, err = ignition.DayTwo(c, h)
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "ignition_config_overrides")

	c.IgnitionEndpoint = model.IgnitionEndpoint{URL: "https://x", CACertificate: "%"}
	_, err = ignition.DayTwo(c, &model.Host{ID: uuid.New()})
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "ca_certificate")
}
