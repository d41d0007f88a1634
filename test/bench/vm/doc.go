// Package vm runs machines of the bench: QEMU without the help of a processor, in QEMU's
// own network, in which 10.0.2.2 is the loopback interface of this machine.
package vm
