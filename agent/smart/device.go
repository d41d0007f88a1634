package smart

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"slipway/agent/ioctl"
)

// device is a disk behind the drivers of the kernel.
type device struct{ file *os.File }

// openDevice does not wait for a medium, and writes nothing: udev looks at a device again
// that was open for writing.
func openDevice(path string) (Device, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return device{file}, nil
}

func (d device) Close() error { return d.file.Close() }

// request is struct sg_io_hdr of include/scsi/sg.h on machines of 64 bits.
type request struct {
	kind                          int32
	direction                     int32
	commandLength, senseLength    uint8
	vectors                       uint16
	dataLength                    uint32
	data, command, sense          *byte
	timeout, flags                uint32
	id                            int32
	own                           *byte
	status, masked, message, used uint8
	hostStatus, driverStatus      uint16
	left                          int32
	duration, info                uint32
}

const (
	sgIO            = 0x2285 // SG_IO, without a direction and size on any architecture
	fromDevice      = -3     // SG_DXFER_FROM_DEV
	noData          = -1     // SG_DXFER_NONE
	senseLength     = 64
	commandWait     = 5000 // milliseconds
	checkCondition  = 0x02
	driverHasSense  = 0x08
	driverWithoutIt = 0x00
)

// SCSI implements Device.
func (d device) SCSI(command, into []byte) ([]byte, error) {
	command, sense, data := append([]byte{}, command...), make([]byte, senseLength), make([]byte, len(into))
	r := &request{
		kind: 'S', direction: noData, commandLength: uint8(len(command)), senseLength: senseLength, dataLength: uint32(len(data)),
		command: unsafe.SliceData(command), sense: unsafe.SliceData(sense), timeout: commandWait,
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	if len(data) > 0 {
		r.direction, r.data = fromDevice, unsafe.SliceData(data)
		pins.Pin(r.data)
	}
	pins.Pin(r.command)
	pins.Pin(r.sense)
	pins.Pin(r)
	if _, err := ioctl.Call(d.file.Fd(), sgIO, unsafe.Pointer(r)); err != nil {
		return nil, err
	}
	if r.hostStatus != 0 || r.driverStatus != driverWithoutIt && r.driverStatus != driverHasSense {
		return nil, fmt.Errorf("SCSI command %02x: host status %d, driver status %d", command[0], r.hostStatus, r.driverStatus)
	}
	if r.status != 0 && r.status != checkCondition {
		return nil, fmt.Errorf("SCSI command %02x: status %d", command[0], r.status)
	}
	copy(into, data)
	return sense[:min(int(r.used), senseLength)], nil
}

// adminCommand is struct nvme_passthru_cmd of include/uapi/linux/nvme_ioctl.h.
type adminCommand struct {
	opcode, flags        uint8
	_                    uint16
	namespace            uint32
	_, _                 uint32
	metadata, data       uint64
	metadataLength       uint32
	dataLength           uint32
	dwords               [6]uint32 // 10 to 15
	timeoutMilliseconds  uint32
	completionQueueEntry uint32
}

// NVMeLog implements Device.
func (d device) NVMeLog(page uint8, into []byte) error {
	const getLogPage, allNamespaces = 0x02, 0xffffffff
	data := make([]byte, len(into))
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(unsafe.SliceData(data))
	c := &adminCommand{
		opcode: getLogPage, namespace: allNamespaces, dataLength: uint32(len(data)), timeoutMilliseconds: commandWait,
		data: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(data)))),
	}
	c.dwords[0] = uint32(len(data)/4-1)<<16 | uint32(page)
	pins.Pin(c)
	// NVME_IOCTL_ADMIN_CMD returns the status of a command that the disk refused.
	status, err := ioctl.Call(d.file.Fd(), ioctl.Native().ReadWrite('N', 0x41, unsafe.Sizeof(*c)), unsafe.Pointer(c))
	if err != nil {
		return err
	}
	if status != 0 {
		return fmt.Errorf("%w: status %04x of the NVMe log", ErrNoVerdict, status)
	}
	copy(into, data)
	return nil
}
