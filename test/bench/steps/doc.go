// Package steps runs every step that the service may ask an agent for on the real agent,
// with the real tools: DHCP client, time daemon, scanners, containers, disks. A host is a
// network namespace and a mount namespace; its network has the servers a test needs. The
// service is a small one that commands steps and takes replies.
//
// Nothing of the machine is changed: what a host writes is in a file system of its own.
package steps
