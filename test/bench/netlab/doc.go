// Package netlab makes networks of the bench out of the kernel's network namespaces, with
// processes and time servers in them. It needs root.
package netlab
