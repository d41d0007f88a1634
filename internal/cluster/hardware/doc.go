// Package hardware reads the inventories of hosts: which disk is installed to, which disks are paths of another, what an
// installation destroys, which disks are free for data, and which NICs, addresses and default routes a host has.
package hardware
