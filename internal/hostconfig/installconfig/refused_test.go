package installconfig_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	encoding "encoding/pem"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/model"
)

// certificate returns a certificate of an authority in PEM.
func certificate(t *testing.T, name string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	require.NoError(t, err)
	return string(encoding.EncodeToMemory(&encoding.Block{Type: "CERTIFICATE", Bytes: der}))
}

// The installer accepts each of these on other platforms or in another form (openshift/installer,
// pkg/types/validation/installconfig.go); a cluster with one of them was ready, and could not be prepared.
func TestOverridesThatTheInstallerRefuses(t *testing.T) {
	t.Parallel()
	on := func(platform string) func(*model.Cluster) {
		return func(c *model.Cluster) {
			c.Platform.Type, c.APIVIPs, c.IngressVIPs = platform, nil, nil
		}
	}
	for name, c := range map[string]struct {
		override, refused string
		change            func(*model.Cluster)
	}{
		"another platform": {
			override: `{"platform":{"baremetal":null,"none":{}}}`, refused: "platform: require the platform baremetal of the cluster, found none",
		},
		"bare metal for the platform none": {
			override: `{"platform":{"none":null,"baremetal":{"apiVIPs":["192.168.10.5"]}}}`, change: on("none"),
			refused: "platform: require the platform none of the cluster, found baremetal",
		},
		"an internal cluster":        {override: `{"publish":"Internal"}`, refused: `publish: require External on platform baremetal`},
		"a mixed cluster on vSphere": {override: `{"publish":"Mixed"}`, change: on("vsphere"), refused: "publish: require External"},
		"an external cluster":        {override: `{"publish":"External"}`},
		"a mode of credentials":      {override: `{"credentialsMode":"Manual"}`, refused: "credentialsMode: must not be Manual"},
		"manual credentials on Nutanix": {
			override: `{"credentialsMode":"Manual"}`, change: on("nutanix"),
		},
		"minted credentials on Nutanix": {
			override: `{"credentialsMode":"Mint"}`, change: on("nutanix"), refused: "credentialsMode: must not be Mint on platform nutanix",
		},
		"an MTU":                {override: `{"networking":{"clusterNetworkMTU":1400}}`, refused: "networking.clusterNetworkMTU"},
		"gates without the set": {override: `{"featureGates":["DualReplica=true"]}`, refused: "featureGates: require the featureSet"},
		"gates of a preview": {
			override: `{"featureSet":"TechPreviewNoUpgrade","featureGates":["DualReplica=true"]}`, refused: "featureGates: require the featureSet",
		},
		"a gate without a value": {
			override: `{"featureSet":"CustomNoUpgrade","featureGates":["DualReplica"]}`, refused: "featureGates: require entries such as",
		},
		"gates":                  {override: `{"featureSet":"CustomNoUpgrade","featureGates":["DualReplica=true","A=false"]}`},
		"another control plane":  {override: `{"controlPlane":{"name":"control"}}`, refused: `controlPlane.name: require master`},
		"a pool of another name": {override: `{"compute":[{"name":"infra"}]}`, refused: `compute.name: require worker, found "infra"`},
		"two pools of workers": {
			override: `{"compute":[{"name":"worker"},{"name":"worker","replicas":1}]}`, refused: "compute: require one pool of workers, found 2",
		},
		"workers of another architecture": {override: `{"compute":[{"architecture":"arm64"}]}`, refused: "compute.architecture"},
		"one architecture":                {override: `{"compute":[{"architecture":"arm64"}],"controlPlane":{"architecture":"arm64"}}`},
		"OVN under another plug-in": {
			override: `{"networking":{"networkType":"Calico","ovnKubernetesConfig":{"ipv4":{"internalJoinSubnet":"100.99.0.0/16"}}}}`,
			refused:  "networking.ovnKubernetesConfig: require the networkType OVNKubernetes",
		},
		"a join subnet without its prefix length": {
			override: `{"networking":{"ovnKubernetesConfig":{"ipv4":{"internalJoinSubnet":"100.99.0.0"}}}}`,
			refused:  "internalJoinSubnet: require a network",
		},
		"a join subnet with host bits": {
			override: `{"networking":{"ovnKubernetesConfig":{"ipv4":{"internalJoinSubnet":"100.99.1.0/16"}}}}`,
			refused:  "internalJoinSubnet: require a network",
		},
		"a join subnet too small": {
			override: `{"networking":{"ovnKubernetesConfig":{"ipv4":{"internalJoinSubnet":"100.99.0.0/23"}}}}`,
			refused:  "require an address for each of the 512 nodes that the cluster network has room for, 100.99.0.0/23 has 509",
		},
		"a join subnet large enough": {override: `{"networking":{"ovnKubernetesConfig":{"ipv4":{"internalJoinSubnet":"100.99.0.0/22"}}}}`},
		"a balancer of another type": {
			override: `{"platform":{"baremetal":{"loadBalancer":{"type":"user-managed"}}}}`, refused: "loadBalancer.type: require UserManaged",
		},
		"a bundle without a certificate": {
			override: `{"additionalTrustBundle":"-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n"}`,
			refused:  "additionalTrustBundle: must be certificates in PEM, block 1 is not",
		},
		"a mirror with a tag": {
			override: `{"imageDigestSources":[{"source":"quay.io/a","mirrors":["m.example.com/a:latest"]}]}`, refused: "imageDigestSources.mirrors",
		},
		"a source with a scheme": {
			override: `{"imageContentSources":[{"source":"https://quay.io/a","mirrors":["m.example.com/a"]}]}`,
			refused:  "imageContentSources.source",
		},
		"a source with a wildcard": {
			override: `{"imageDigestSources":[{"source":"*.quay.io","mirrors":["m.example.com/a"]}]}`, refused: "imageDigestSources.source",
		},
		"an unknown policy": {
			override: `{"imageDigestSources":[{"source":"quay.io/a","mirrors":["m.example.com/a"],"sourcePolicy":"Never"}]}`,
			refused:  "sourcePolicy: require NeverContactSource",
		},
		"mirrors of whole registries": {
			override: `{"imageDigestSources":[{"source":"quay.io","mirrors":["m.example.com:5000","[2001:db8::1]:5000/quay_io/a--b.c"],` +
				`"sourcePolicy":"NeverContactSource"}]}`,
		},
		"no lifecycle manager for the operators": {
			override: `{"capabilities":{"baselineCapabilitySet":"None","additionalEnabledCapabilities":["baremetal","MachineAPI","Ingress"]}}`,
			change:   func(c *model.Cluster) { c.OLMOperators = []model.OLMOperator{{Name: "lso"}} },
			refused:  "OperatorLifecycleManager is missing: the operators of the cluster require it",
		},
		"the lifecycle manager for the operators": {
			override: `{"capabilities":{"baselineCapabilitySet":"None","additionalEnabledCapabilities":["baremetal","MachineAPI","Ingress",` +
				`"OperatorLifecycleManager"]}}`,
			change: func(c *model.Cluster) { c.OLMOperators = []model.OLMOperator{{Name: "lso"}} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.change == nil {
				c.change = func(*model.Cluster) {}
			}
			err := installconfig.CheckOverrideOf(cluster(c.change), hosts(model.RoleMaster, 3, 10), c.override, installconfig.Options{})
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, model.ErrInvalid)
			require.ErrorContains(t, err, c.refused)
		})
	}
}
