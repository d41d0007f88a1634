// Package cluster installs whole clusters on machines of the bench: QEMU machines on a
// network of their own boot our discovery image, the real coreos-installer writes their
// disks, and a Kubernetes control plane forms out of them (`make bench-vm`).
package cluster
