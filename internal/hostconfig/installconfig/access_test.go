package installconfig_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/model"
)

// The refusals of openshift-install 4.19 are recorded (edge-both-mirror-lists, edge-no-proxy-only, edge-proxy, edge-ssh-key); the schemes
// and the exceptions of a proxy are from its source (pkg/types/validation/installconfig.go, validateProxy).
func TestAccessThatTheInstallerRefuses(t *testing.T) {
	t.Parallel()
	const sshKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBm0rbT3aVxH8f2ksR9i7d3m0bN2cYb1xJ7wQ0lqk3pE lab"
	const mirror = `[{"source":"quay.io/a","mirrors":["m.example.com/a"]}]`
	for name, c := range map[string]struct {
		override, refused string
		change            func(*model.Cluster)
		mirrors           []installconfig.ImageSource
	}{
		"two kinds of mirrors": {
			override: `{"imageContentSources":` + mirror + `,"imageDigestSources":` + mirror + `}`, refused: "imageContentSources: must not be set",
		},
		"another kind than the service's": {
			override: `{"imageContentSources":` + mirror + `}`, refused: "imageContentSources: must not be set",
			mirrors: []installconfig.ImageSource{{Source: "quay.io/b", Mirrors: []string{"m.example.com/b"}}},
		},
		"one kind of mirrors":           {override: `{"imageDigestSources":` + mirror + `}`},
		"the old kind of mirrors alone": {override: `{"imageContentSources":` + mirror + `}`},
		"an invalid key":                {override: `{"sshKey":"not a key"}`, refused: "sshKey: require public keys"},
		"an invalid second key":         {override: `{"sshKey":"` + sshKey + `\nssh-ed25519 short"}`, refused: "sshKey: require public keys"},
		"two keys":                      {override: `{"sshKey":"` + sshKey + `\n# mine\n` + sshKey + `"}`},
		"no proxy, but exceptions": {
			override: `{"proxy":{"noProxy":"a.com"}}`,
			refused:  "proxy: httpProxy or httpsProxy is required",
		},
		"an empty proxy": {override: `{"proxy":{}}`, refused: "proxy: httpProxy or httpsProxy is required"},
		"a proxy without a scheme": {
			override: `{"proxy":{"httpProxy":"192.0.2.9:3128"}}`,
			refused:  "proxy.httpProxy: must be an address",
		},
		"a proxy by TLS for plain calls": {
			override: `{"proxy":{"httpProxy":"https://proxy:3128"}}`,
			refused:  "proxy.httpProxy: must be an address",
		},
		"a proxy by TLS": {override: `{"proxy":{"httpsProxy":"https://proxy:3128"}}`},
		"an invalid exception": {
			override: `{"proxy":{"httpProxy":"http://proxy:3128","noProxy":"a.com,b c"}}`,
			refused:  "proxy.noProxy: require domains",
		},
		"an exception with a wildcard": {
			override: `{"proxy":{"httpProxy":"http://proxy:3128","noProxy":"*.a.com"}}`,
			refused:  "proxy.noProxy: require domains",
		},
		"exceptions with a blank": {
			override: `{"proxy":{"httpProxy":"http://proxy:3128","noProxy":"a.com, b.com"}}`,
			refused:  "proxy.noProxy: must have no blanks",
		},
		"exceptions in capitals": {
			override: `{"proxy":{"httpProxy":"http://proxy:3128","noProxy":"A.com"}}`,
			refused:  "proxy.noProxy: must have no blanks, line breaks and capitals",
		},
		"exceptions of each kind": {
			override: `{"proxy":{"httpProxy":"http://proxy:3128","noProxy":".a.com,b.com,192.0.2.1,192.0.2.0/24,2001:db8::/64"}}`,
		},
		"exceptions beside the cluster's proxy": {
			override: `{"proxy":{"noProxy":"a.com"}}`, change: func(c *model.Cluster) { c.Proxy.HTTP = "http://proxy:3128" },
		},
		"another address of the API": {
			override: `{"platform":{"baremetal":{"apiVIPs":["192.168.10.50"]}}}`,
			refused:  "platform: require the virtual addresses of the cluster, 192.168.10.5 for",
		},
		"no address of the ingress": {
			override: `{"platform":{"baremetal":{"ingressVIPs":[]}}}`, refused: "found 192.168.10.5 for the API and none for ingress",
		},
		"the same addresses": {override: `{"platform":{"baremetal":{"apiVIPs":["192.168.10.5"],"ingressVIPs":["192.168.10.6"]}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.change == nil {
				c.change = func(*model.Cluster) {}
			}
			all := hosts(model.RoleMaster, 3, 10)
			err := installconfig.CheckOverrideOf(cluster(c.change), all, c.override, installconfig.Options{Mirrors: c.mirrors})
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, model.ErrInvalid)
			require.ErrorContains(t, err, c.refused)
		})
	}
}
