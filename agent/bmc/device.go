package bmc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"slipway/agent/ioctl"
	"slipway/internal/platform/hostexec"
)

// devices are the names of the first controller's device, by distribution.
var devices = []string{"/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0"}

// At opens the device of the machine below a root.
func At(root hostexec.Root) func() (Device, error) {
	return func() (Device, error) {
		var missing error
		for _, path := range devices {
			file, err := os.OpenFile(root.Path(path), os.O_RDWR, 0)
			if err == nil {
				return &device{file: file}, nil
			}
			missing = errors.Join(missing, err)
		}
		return nil, fmt.Errorf("open the device of the management controller: %w", missing)
	}
}

// device is a device of the kernel's driver.
type device struct {
	file *os.File
	sent int64 // commands, which names the last one
}

func (d *device) Close() error { return d.file.Close() }

// The structures of include/uapi/linux/ipmi.h on machines of 64 bits. A member that is as
// wide as a pointer there is so here; Go puts the same space between members.
type (
	// address is struct ipmi_system_interface_addr.
	address struct {
		kind    int32
		channel int16
		_       uint8 // logical unit 0
	}
	// message is struct ipmi_msg.
	message struct {
		function, number uint8
		length           uint16
		data             *byte
	}
	// request is struct ipmi_req.
	request struct {
		address *address
		length  uint32
		id      int64
		message message
	}
	// response is struct ipmi_recv.
	response struct {
		kind    int32
		address *address
		length  uint32
		id      int64
		message message
	}
)

const (
	systemInterface = 0x0c // IPMI_SYSTEM_INTERFACE_ADDR_TYPE
	thisController  = 0x0f // IPMI_BMC_CHANNEL
	isResponse      = 1    // IPMI_RESPONSE_RECV_TYPE
	longestResponse = 272  // IPMI_MAX_MSG_LENGTH
)

// answerWait is how long a controller may take for a command, as the driver has it.
const answerWait = 5 * time.Second

// Ask implements Device.
func (d *device) Ask(ctx context.Context, c Command) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	if err := d.send(c); err != nil {
		return nil, fmt.Errorf("send command %02x %02x: %w", c.Function, c.Number, err)
	}
	for {
		if err := d.await(ctx); err != nil {
			return nil, fmt.Errorf("await the response to command %02x %02x: %w", c.Function, c.Number, err)
		}
		data, own, err := d.receive()
		if err != nil {
			return nil, fmt.Errorf("receive the response to command %02x %02x: %w", c.Function, c.Number, err)
		}
		if !own {
			continue // an event, or the late response to a command that was given up
		}
		if len(data) == 0 {
			return nil, errors.New("the response has no completion code")
		}
		if data[0] != 0 {
			return nil, CompletionError(data[0])
		}
		return data[1:], nil
	}
}

func (d *device) send(c Command) error {
	d.sent++
	to := &address{kind: systemInterface, channel: thisController}
	content := append([]byte{}, c.Data...)
	r := &request{
		address: to, length: uint32(unsafe.Sizeof(*to)), id: d.sent,
		message: message{function: c.Function, number: c.Number, length: uint16(len(content)), data: unsafe.SliceData(content)},
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(to)
	pins.Pin(r)
	if len(content) > 0 {
		pins.Pin(r.message.data)
	}
	// IPMICTL_SEND_COMMAND
	_, err := ioctl.Call(d.file.Fd(), ioctl.Native().Read('i', 13, unsafe.Sizeof(*r)), unsafe.Pointer(r))
	return err
}

// await waits until the driver has something.
func (d *device) await(ctx context.Context) error {
	const slice = 50 // milliseconds
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(d.file.Fd()), Events: unix.POLLIN}}, slice)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if ready > 0 {
			return nil
		}
	}
}

// receive takes what the driver has; own is false when it is not the last command's response.
func (d *device) receive() (data []byte, own bool, err error) {
	from, content := new(address), make([]byte, longestResponse)
	r := &response{
		address: from, length: uint32(unsafe.Sizeof(*from)),
		message: message{length: uint16(len(content)), data: unsafe.SliceData(content)},
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(from)
	pins.Pin(r)
	pins.Pin(r.message.data)
	// IPMICTL_RECEIVE_MSG_TRUNC
	_, err = ioctl.Call(d.file.Fd(), ioctl.Native().ReadWrite('i', 11, unsafe.Sizeof(*r)), unsafe.Pointer(r))
	if err != nil && !errors.Is(err, unix.EMSGSIZE) { // a longer one than any of IPMI: its beginning is there
		return nil, false, err
	}
	own = r.kind == isResponse && r.id == d.sent
	return content[:min(int(r.message.length), len(content))], own, nil
}
