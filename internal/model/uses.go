package model

// Uses count what a cluster uses of features that are not part of its own definition.
type Uses struct {
	CustomManifests    int `json:"custom_manifests,omitempty"`
	RequestedHostnames int `json:"requested_hostnames,omitempty"` // other than machines call themselves
	AutoAssignedRoles  int `json:"auto_assigned_roles,omitempty"`
	DayTwoHosts        int `json:"day_two_hosts,omitempty"`
	VirtualMachines    int `json:"virtual_machines,omitempty"`
	IgnitionOverrides  int `json:"ignition_overrides,omitempty"` // of hosts and discovery environments
	StaticNetworks     int `json:"static_networks,omitempty"`    // discovery environments with them
	KernelArguments    int `json:"kernel_arguments,omitempty"`   // discovery environments with some
}
