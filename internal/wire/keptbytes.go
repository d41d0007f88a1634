package wire

// KeptBytes is how many bytes are kept from the hosts of an InfraEnv, and of all InfraEnvs and clusters of its owner. A limit of zero is
// none.
type KeptBytes struct {
	Bytes           int64 `json:"bytes"`
	LimitBytes      int64 `json:"limit_bytes"`
	OwnerBytes      int64 `json:"owner_bytes"`
	OwnerLimitBytes int64 `json:"owner_limit_bytes"`
}
