package model

// Uses counts the features a cluster uses that are not part of its own definition.
type Uses struct {
	CustomManifests    int `json:"custom_manifests,omitempty"`
	RequestedHostnames int `json:"requested_hostnames,omitempty"` // other than machines call themselves
	AutoAssignedRoles  int `json:"auto_assigned_roles,omitempty"`
	DayTwoHosts        int `json:"day_two_hosts,omitempty"`
	VirtualMachines    int `json:"virtual_machines,omitempty"`
	IgnitionOverrides  int `json:"ignition_overrides,omitempty"` // of hosts and InfraEnvs
	StaticNetworks     int `json:"static_networks,omitempty"`    // InfraEnvs that have them
	KernelArguments    int `json:"kernel_arguments,omitempty"`   // InfraEnvs that have some
}
