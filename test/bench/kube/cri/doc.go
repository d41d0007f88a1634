// Package cri is a container runtime for hosts of the bench, which have no images: a
// container of an image whose program is known runs as a process of the host, all others
// do nothing until they are stopped. Pods share the host's network.
package cri
