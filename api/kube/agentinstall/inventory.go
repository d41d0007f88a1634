package agentinstall

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// HostInventory is the hardware of a host.
type HostInventory struct {
	// ReportTime is when the agent sent it.
	// +optional
	ReportTime *metav1.Time `json:"reportTime,omitempty"`
	// Hostname of the host.
	// +optional
	Hostname string `json:"hostname,omitempty"`
	// BmcAddress is the IPv4 address of the management controller.
	// +optional
	BmcAddress string `json:"bmcAddress,omitempty"`
	// BmcV6address is the IPv6 address of the management controller.
	// +optional
	BmcV6address string `json:"bmcV6Address,omitempty"`
	// Memory of the host.
	// +optional
	Memory HostMemory `json:"memory,omitempty"`
	// Cpu of the host.
	// +optional
	Cpu HostCPU `json:"cpu,omitempty"`
	// Interfaces are the network cards.
	// +optional
	Interfaces []HostInterface `json:"interfaces,omitempty"`
	// Disks are the block devices.
	// +optional
	Disks []HostDisk `json:"disks,omitempty"`
	// Boot is how the host booted.
	// +optional
	Boot HostBoot `json:"boot,omitempty"`
	// SystemVendor is who made the host.
	// +optional
	SystemVendor HostSystemVendor `json:"systemVendor,omitempty"`
	// GPUs are the graphics processors.
	// +optional
	GPUs []HostGPU `json:"gpus,omitempty"`
}

// HostMemory is the memory of a host.
type HostMemory struct {
	// PhysicalBytes counts the memory that is built in.
	// +optional
	PhysicalBytes int64 `json:"physicalBytes,omitempty"`
	// UsableBytes counts the memory of the system.
	// +optional
	UsableBytes int64 `json:"usableBytes,omitempty"`
}

// HostCPU are the processors of a host.
type HostCPU struct {
	// Count of logical processors.
	// +optional
	Count int64 `json:"count,omitempty"`
	// ClockMegahertz is the highest clock rate.
	// +optional
	ClockMegahertz int64 `json:"clockMegahertz,omitempty"`
	// Flags as the kernel lists them.
	// +optional
	Flags []string `json:"flags,omitempty"`
	// ModelName as the kernel has it.
	// +optional
	ModelName string `json:"modelName,omitempty"`
	// Architecture, such as x86_64.
	// +optional
	Architecture string `json:"architecture,omitempty"`
}

// HostInterface is a network card of a host.
type HostInterface struct {
	// Name such as eno1.
	// +optional
	Name string `json:"name,omitempty"`
	// MacAddress of the card.
	// +optional
	MacAddress string `json:"macAddress,omitempty"`
	// IPV4Addresses with their prefix lengths.
	IPV4Addresses []string `json:"ipV4Addresses"`
	// IPV6Addresses with their prefix lengths.
	IPV6Addresses []string `json:"ipV6Addresses"`
	// Flags such as up and broadcast.
	Flags []string `json:"flags"`
	// HasCarrier says whether a cable is connected.
	// +optional
	HasCarrier bool `json:"hasCarrier,omitempty"`
	// SpeedMbps of the link.
	// +optional
	SpeedMbps int64 `json:"speedMbps,omitempty"`
	// Mtu in bytes.
	// +optional
	Mtu int64 `json:"mtu,omitempty"`
	// Vendor of the card.
	// +optional
	Vendor string `json:"vendor,omitempty"`
	// Product of the card.
	// +optional
	Product string `json:"product,omitempty"`
	// ClientID that the card asks DHCP with.
	// +optional
	ClientID string `json:"clientID,omitempty"`
	// BiosDevName as biosdevname gives it.
	// +optional
	BiosDevName string `json:"biosDevName,omitempty"`
}

// HostDisk is a block device of a host.
type HostDisk struct {
	// ID that installation_disk_id names.
	ID string `json:"id"`
	// Name such as sda.
	// +optional
	Name string `json:"name,omitempty"`
	// Path such as /dev/sda.
	// +optional
	Path string `json:"path,omitempty"`
	// ByPath is the path that its connection gives it.
	// +optional
	ByPath string `json:"byPath,omitempty"`
	// ByID is the path that its serial number gives it.
	// +optional
	ByID string `json:"byID,omitempty"`
	// DriveType such as HDD, SSD or Multipath.
	// +optional
	DriveType string `json:"driveType,omitempty"`
	// Vendor of the disk.
	// +optional
	Vendor string `json:"vendor,omitempty"`
	// Model of the disk.
	// +optional
	Model string `json:"model,omitempty"`
	// Serial number of the disk.
	// +optional
	Serial string `json:"serial,omitempty"`
	// Wwn is its world wide name.
	// +optional
	Wwn string `json:"wwn,omitempty"`
	// Hctl is its SCSI address.
	// +optional
	Hctl string `json:"hctl,omitempty"`
	// SizeBytes is its size.
	// +optional
	SizeBytes int64 `json:"sizeBytes,omitempty"`
	// Bootable says whether it has a boot loader.
	// +optional
	Bootable bool `json:"bootable,omitempty"`
	// Smart has the report of smartctl, in JSON.
	// +optional
	Smart string `json:"smart,omitempty"`
	// InstallationEligibility says whether it can be installed on.
	// +optional
	InstallationEligibility HostInstallationEligibility `json:"installationEligibility,omitempty"`
	// IoPerf is how fast it writes.
	// +optional
	IoPerf HostIOPerf `json:"ioPerf,omitempty"`
}

// HostInstallationEligibility says whether a disk can be installed on.
type HostInstallationEligibility struct {
	// Eligible disks can.
	// +optional
	Eligible bool `json:"eligible,omitempty"`
	// NotEligibleReasons say why others cannot.
	NotEligibleReasons []string `json:"notEligibleReasons"`
}

// HostIOPerf is how fast a disk writes.
type HostIOPerf struct {
	// SyncDurationMilliseconds is the 99th percentile of fdatasync.
	// +optional
	SyncDurationMilliseconds int64 `json:"syncDurationMilliseconds,omitempty"`
}

// HostBoot is how a host booted.
type HostBoot struct {
	// CurrentBootMode is bios or uefi.
	// +optional
	CurrentBootMode string `json:"currentBootMode,omitempty"`
	// PxeInterface is the card that it booted over.
	// +optional
	PxeInterface string `json:"pxeInterface,omitempty"`
	// DeviceType that it booted from.
	// +optional
	DeviceType string `json:"deviceType,omitempty"`
}

// HostSystemVendor is who made a host.
type HostSystemVendor struct {
	// SerialNumber of the host.
	// +optional
	SerialNumber string `json:"serialNumber,omitempty"`
	// ProductName of the host.
	// +optional
	ProductName string `json:"productName,omitempty"`
	// Manufacturer of the host.
	// +optional
	Manufacturer string `json:"manufacturer,omitempty"`
	// Virtual machines say so.
	// +optional
	Virtual bool `json:"virtual,omitempty"`
}

// HostGPU is a graphics processor of a host.
type HostGPU struct {
	// Address on the PCI bus.
	// +optional
	Address string `json:"address,omitempty"`
	// VendorID in hexadecimal.
	// +optional
	VendorID string `json:"vendorID,omitempty"`
	// DeviceID in hexadecimal.
	// +optional
	DeviceID string `json:"deviceID,omitempty"`
	// Vendor of the processor.
	// +optional
	Vendor string `json:"vendor,omitempty"`
	// Name of the processor.
	// +optional
	Name string `json:"name,omitempty"`
}
