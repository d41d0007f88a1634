package liveisos

import (
	"debug/elf"
	"debug/pe"
	"encoding/binary"
	"io"

	"slipway/internal/images/remaster"
)

// kernelArchitecture returns the architecture of an image's kernel; empty when it is unknown, as for a
// compressed one.
func kernelArchitecture(f io.ReaderAt, base *remaster.Base) string {
	if base.IsS390X() {
		return "s390x"
	}
	kernel, err := base.Kernel()
	if err != nil {
		return ""
	}
	head := make([]byte, 4<<10)
	n, _ := kernel.Reader(f).ReadAt(head, 0) // an unreadable kernel gives no answer
	return machineOf(head[:n])
}

// machineOf parses the header of a kernel: kernels of x86 and ARM are programs of UEFI (PE), kernels of POWER
// are ELF files.
func machineOf(head []byte) string {
	if len(head) < 0x40 {
		return ""
	}
	switch {
	case string(head[:2]) == "MZ":
		at := int64(binary.LittleEndian.Uint32(head[0x3c:]))
		if at+6 > int64(len(head)) || string(head[at:at+4]) != "PE\x00\x00" {
			return ""
		}
		switch binary.LittleEndian.Uint16(head[at+4:]) {
		case pe.IMAGE_FILE_MACHINE_AMD64:
			return "x86_64"
		case pe.IMAGE_FILE_MACHINE_ARM64:
			return "arm64"
		}
	case string(head[:4]) == elf.ELFMAG && head[elf.EI_DATA] == byte(elf.ELFDATA2LSB):
		if elf.Machine(binary.LittleEndian.Uint16(head[18:])) == elf.EM_PPC64 {
			return "ppc64le"
		}
	}
	return ""
}
