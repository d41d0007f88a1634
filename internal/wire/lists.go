package wire

// ClusterPage is a page of clusters without their hosts, newest first. It is of our own API (api/slipway.yaml), not of the contract.
type ClusterPage struct {
	Clusters      []Cluster `json:"clusters"`
	NextPageToken string    `json:"next_page_token,omitempty"` // missing: there are no more clusters
}

// HostPage is a page of hosts, in the order of their registration.
type HostPage struct {
	Hosts         []Host `json:"hosts"`
	NextPageToken string `json:"next_page_token,omitempty"` // missing: there are no more hosts
}

// EventPage is a page of events, newest first.
type EventPage struct {
	Events        []Event `json:"events"`
	NextPageToken string  `json:"next_page_token,omitempty"` // missing: there are no more events
}
