package openshift_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
)

func TestNodesAreWithoutACloudUntilItsCredentialsAreGiven(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		platform, overrides string
		without             bool
	}{
		"vSphere without overrides": {"vsphere", "", true},
		"Nutanix without overrides": {"nutanix", "", true},
		"vSphere with overrides of something else": {
			"vsphere", `{"networking":{"networkType":"OVNKubernetes"},"platform":{"vsphere":{"vcenters":[{"server":"vcenter.example.com"}]}}}`, true,
		},
		"Nutanix with a user and no password": {"nutanix", `{"platform":{"nutanix":{"prismCentral":{"username":"admin"}}}}`, true},
		"vSphere with the placeholder":        {"vsphere", `{"platform":{"vsphere":{"vcenters":[{"password":"placeholder"}]}}}`, true},
		"vSphere with a vCenter's password": {
			"vsphere", `{"platform":{"vsphere":{"vcenters":[{"server":"one"},{"server":"two","password":"a secret"}]}}}`, false,
		},
		"vSphere before 4.13 with a password": {"vsphere", `{"platform":{"vsphere":{"password":"a secret"}}}`, false},
		"Nutanix with a password":             {"nutanix", `{"platform":{"nutanix":{"prismCentral":{"password":"a secret"}}}}`, false},
		"overrides that cannot be read":       {"vsphere", `{"platform":`, true},
		"an external cloud":                   {"external", "", false},
		"bare metal":                          {"baremetal", "", false},
		"no platform":                         {"none", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.without, openshift.WithoutCloud(c.platform, c.overrides))
		})
	}
}
