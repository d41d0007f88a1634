package wire

// BootArtifacts are the addresses of what machines boot from over the network, and of the files that a discovery image contains.
type BootArtifacts struct {
	KernelURL string `json:"kernel_url"`
	InitrdURL string `json:"initrd_url"`
	RootfsURL string `json:"rootfs_url"`
	// IpxeScriptURL boots the discovery image; IpxeDiskScriptURL the disk of a host that is installed.
	IpxeScriptURL        string   `json:"ipxe_script_url"`
	IpxeDiskScriptURL    string   `json:"ipxe_disk_script_url"`
	DiscoveryIgnitionURL string   `json:"discovery_ignition_url"`
	StaticNetworkURL     string   `json:"static_network_url"`
	EventsURL            string   `json:"events_url"`
	ExpiresAt            DateTime `json:"expires_at"` // zero: never
	// ImageTokenExpiresAt is when machines register no more with an image that is downloaded now; zero: never.
	ImageTokenExpiresAt DateTime `json:"image_token_expires_at"`
}
