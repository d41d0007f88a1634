package wire

// OnFailure is what an installation does when a host fails, or when the time of a phase is over: wait, fail, or default, which is
// what the service does. It is of our own API (api/slipway.yaml), not of the contract.
type OnFailure struct {
	OnFailure string `json:"on_failure"`
}
