package openshift

import "encoding/json"

// placeholder is the password that an install-config has where its user gave none.
const placeholder = "placeholder"

// UninitializedTaint is on nodes that wait for the controller of a cloud (kubernetes/cloud-provider, api).
const UninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized"

// WithoutCloud reports whether nodes wait for a cloud that no controller of the new cluster can reach: kubelets on vSphere
// and Nutanix join with UninitializedTaint, which only the cloud controller manager
// removes, and its credentials are placeholders until the user sets true ones (openshift/assisted-installer, removal of
// the taint on vSphere and Nutanix). With credentials in the overrides of the install-config the cloud controller manager
// removes it. It must: it skips nodes without the taint, which then have no provider ID (kubernetes/cloud-provider,
// controllers/node). On other platforms no node has the taint, or a cloud of the user's own removes it.
func WithoutCloud(platform, overrides string) bool {
	switch platform {
	case "vsphere", "nutanix":
		return !hasCredentials(overrides)
	default:
		return false
	}
}

// hasCredentials reports whether overrides of the install-config hold a password of vSphere or Nutanix.
func hasCredentials(overrides string) bool {
	type account struct {
		Password string `json:"password"`
	}
	var config struct {
		Platform struct {
			VSphere struct {
				account
				VCenters []account `json:"vcenters"`
			} `json:"vsphere"`
			Nutanix struct {
				PrismCentral account `json:"prismCentral"`
			} `json:"nutanix"`
		} `json:"platform"`
	}
	if json.Unmarshal([]byte(overrides), &config) != nil {
		return false
	}
	given := func(a account) bool { return a.Password != "" && a.Password != placeholder }
	for _, center := range config.Platform.VSphere.VCenters {
		if given(center) {
			return true
		}
	}
	return given(config.Platform.VSphere.account) || given(config.Platform.Nutanix.PrismCentral)
}
