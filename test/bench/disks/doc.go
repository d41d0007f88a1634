// Package disks tests what the installer does to disks with a real kernel and real tools:
// LVM, RAID, device mapper, and coreos-installer; and what the agent asks of disks and
// firmware without any. A small machine under QEMU, up in
// seconds, runs this package's own test program: what its tests destroy are disks of that
// machine only.
package disks
