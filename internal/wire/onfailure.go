package wire

// OnFailure decides what an installation does when a host fails, or when the time of a phase is over: wait, fail, or default, the
// service's own setting. It is of our own API (api/slipway.yaml), not of the contract.
type OnFailure struct {
	OnFailure string `json:"on_failure"`
}
