// Package inventory describes the hardware and the network of a host in the form of
// docs/reference/agent-protocol.md, "Inventory". It reads files below one root prefix
// (/proc, /sys, /dev, /run/udev, the PCI database), the links of the kernel through
// Links and the management controller through BMC, and runs few commands; what is missing
// or unreadable leaves its fields empty and never fails the rest.
//
// Commands, none of which must exist:
//
//	systemd-detect-virt --vm          exit code 0: a virtual machine; else the processor's hypervisor flag
//	smartctl --json=c --nocheck=standby --health DISK
//	                                  local disks and NVMe, 10 seconds each; only the verdict is kept
//	biosdevname -i NIC                hardware only
package inventory
