package wire

// SignInAt says how users of an issuer sign in without a browser of this machine (RFC 8628). It is of our own API
// (api/slipway.yaml), not of the contract; empty where users have tokens only.
type SignInAt struct {
	Issuer   string   `json:"issuer,omitempty"`
	ClientID string   `json:"client_id,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`
}
