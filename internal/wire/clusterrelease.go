package wire

// ClusterRelease is the release that an installation uses, and who signed it. It is of our own API (api/slipway.yaml), not of the contract.
type ClusterRelease struct {
	Image    string `json:"image"`               // as the cluster names it; empty: an imported cluster without a release
	PullSpec string `json:"pull_spec,omitempty"` // by digest; empty: no installation has resolved it
	Policy   string `json:"policy,omitempty"`    // off, warn or require, when it was resolved
	SignedBy string `json:"signed_by,omitempty"`
	Problem  string `json:"problem,omitempty"` // why no signature is good
}
