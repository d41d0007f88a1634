// Package inventory describes the hardware and the network of a host in the form of
// docs/reference/agent-protocol.md, "Inventory". It reads files below one root prefix
// (/proc, /sys, /dev, /run/udev, the PCI database), the links of the kernel through
// Links, the management controller through BMC and disks through Health, and runs one
// command; what is missing or unreadable leaves its fields empty and never fails the rest.
//
// The command need not exist:
//
//	systemd-detect-virt --vm          exit code 0: a virtual machine; else the processor's hypervisor flag
package inventory
