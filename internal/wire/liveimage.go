package wire

// LiveImage is a live image of the operating system that hosts can boot. It is of our own API (api/slipway.yaml),
// not of the contract.
type LiveImage struct {
	OpenShiftVersion string `json:"openshift_version"` // 4.22, or a whole version
	CPUArchitecture  string `json:"cpu_architecture"`  // x86_64, arm64, ppc64le, s390x
	Version          string `json:"version"`           // of the operating system
	Type             string `json:"type,omitempty"`    // empty, or disconnected-iso
	SHA256           string `json:"sha256,omitempty"`  // required of the ISO; empty: none is
}
