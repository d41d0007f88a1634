package model

// HostCounts are the numbers of hosts that a cluster shows.
type HostCounts struct {
	Total   int
	Enabled int // not disabled
	Ready   int // known
	Workers int // by their own role, or the suggested one
}
