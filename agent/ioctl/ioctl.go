// Package ioctl puts the numbers of device control calls together and makes them. No
// library does so for all architectures that hosts have.
package ioctl

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Encoding is how an architecture packs the direction and size of a call's argument, the
// kind of the device and the number of the call into one number.
type Encoding struct {
	sizeBits    uint
	read, write uintptr
}

var (
	// Generic is the encoding of most architectures (Linux, include/uapi/asm-generic/ioctl.h).
	Generic = Encoding{sizeBits: 14, read: 2, write: 1}
	// PowerPC is the encoding of ppc64le (Linux, arch/powerpc/include/uapi/asm/ioctl.h).
	PowerPC = Encoding{sizeBits: 13, read: 2, write: 4}
)

// Native returns the encoding of this machine.
func Native() Encoding {
	if runtime.GOARCH == "ppc64" || runtime.GOARCH == "ppc64le" {
		return PowerPC
	}
	return Generic
}

// Read returns the number of a call that the kernel defines by _IOR.
func (e Encoding) Read(kind byte, number uint8, size uintptr) uintptr {
	return e.number(e.read, kind, number, size)
}

// ReadWrite returns the number of a call that the kernel defines by _IOWR.
func (e Encoding) ReadWrite(kind byte, number uint8, size uintptr) uintptr {
	return e.number(e.read|e.write, kind, number, size)
}

func (e Encoding) number(direction uintptr, kind byte, number uint8, size uintptr) uintptr {
	const numberBits, kindBits = 8, 8
	return direction<<(numberBits+kindBits+e.sizeBits) | size<<(numberBits+kindBits) | uintptr(kind)<<numberBits | uintptr(number)
}

// Call makes a call and returns what the driver does: some report with it how a command
// ended. What the argument points to must not move (runtime.Pinner).
func Call(file, number uintptr, argument unsafe.Pointer) (result int, err error) {
	returned, _, errno := unix.Syscall(unix.SYS_IOCTL, file, number, uintptr(argument))
	if errno != 0 {
		return 0, errno
	}
	return int(returned), nil
}
