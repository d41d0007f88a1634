// Package hardware describes a simulated machine and writes what its kernel would show:
// the files below /proc, /sys, /dev, /run/udev and /etc that an agent reads through its
// root prefix, and the network interfaces it asks for.
package hardware
