package model

// Requirements are the hardware a host needs for a role.
type Requirements struct {
	CPUCores          int     `json:"cpu_cores"`
	RAMMiB            int64   `json:"ram_mib"`
	DiskSizeGB        int64   `json:"disk_size_gb"` // 10^9 bytes
	DiskSpeedMS       int     `json:"installation_disk_speed_threshold_ms"`
	NetworkLatencyMS  float64 `json:"network_latency_threshold_ms,omitempty"`
	PacketLossPercent float64 `json:"packet_loss_percentage"`
}

// RoleRequirements are the requirements of every role for one OpenShift version.
type RoleRequirements struct {
	Master, Arbiter, Worker, SNO, EdgeWorker Requirements
}
