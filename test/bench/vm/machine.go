package vm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Firmware is what a machine starts with.
type Firmware string

// Medium is what a machine boots from.
type Medium string

// What machines start with and from.
const (
	BIOS Firmware = "BIOS"
	UEFI Firmware = "UEFI"

	CD      Medium = "CD"
	USB     Medium = "USB"
	Network Medium = "network"
)

// The addresses of QEMU's network for users.
const (
	HostAddress = "10.0.2.2"     // this machine's loopback interface
	DHCPAddress = "10.0.2.15/24" // what every machine gets by DHCP
)

// Options describe a machine. Dir, Number and one of Image and BootFile are required.
type Options struct {
	Number   int    // 1 to 99: tells machines apart, by MAC address, UUID and serial number
	Dir      string // for its serial log, and the variables of its firmware
	Firmware Firmware
	Medium   Medium
	Image    string // of CD and USB
	BootFile string // of Network: address of a script for iPXE, 127 characters at most
	Now      func() time.Time
}

// MAC is the address of a machine's network interface.
func MAC(number int) string { return fmt.Sprintf("52:54:00:be:9c:%02d", number) }

// Mark is a line that a machine wrote about how far it is.
type Mark struct {
	After time.Duration // since the machine was switched on
	Text  string
}

// Machine is one that runs.
type Machine struct {
	command *exec.Cmd
	options Options
	log     *os.File
	started time.Time
	done    chan struct{}

	mu    sync.Mutex
	marks []Mark
}

// Start switches a machine on: one processor, 2 GiB of memory and no disk.
func Start(o Options) (*Machine, error) {
	log, err := os.Create(filepath.Join(o.Dir, "serial.log"))
	if err != nil {
		return nil, err
	}
	m := &Machine{options: o, log: log, done: make(chan struct{})}
	if err := m.start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return m, nil
}

func (m *Machine) start() error {
	args, err := m.arguments()
	if err != nil {
		return err
	}
	m.command = exec.Command("qemu-system-x86_64", args...)
	m.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	m.command.Stderr = m.log
	serial, err := m.command.StdoutPipe()
	if err != nil {
		return err
	}
	m.started = m.options.Now()
	if err := m.command.Start(); err != nil {
		return fmt.Errorf("start QEMU: %w", err)
	}
	go m.listen(serial)
	return nil
}

func (m *Machine) arguments() ([]string, error) {
	nic := "virtio-net-pci,netdev=net,mac=" + MAC(m.options.Number)
	network := "user,id=net"
	args := []string{
		"-accel", "tcg,tb-size=256", "-M", "pc", "-cpu", "qemu64", "-smp", "1", "-m", "2048",
		"-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio", "-device", "virtio-rng-pci",
		"-uuid", fmt.Sprintf("5117aa00-be9c-4000-8000-%012d", m.options.Number),
		"-smbios", fmt.Sprintf("type=1,manufacturer=Slipway,product=bench,serial=bench-%02d", m.options.Number),
	}
	if m.options.Firmware == UEFI {
		variables := filepath.Join(m.options.Dir, "firmware.fd")
		if err := copyFile(variables, FirmwareVariables); err != nil {
			return nil, err
		}
		args = append(args, "-drive", "if=pflash,format=raw,readonly=on,file="+FirmwareCode, "-drive", "if=pflash,format=raw,file="+variables)
	}
	drive := "if=none,id=image,format=raw,readonly=on,file=" + m.options.Image
	switch m.options.Medium {
	case CD:
		args = append(args, "-drive", drive+",media=cdrom", "-device", "ide-cd,drive=image,bootindex=1")
		nic += ",romfile="
	case USB:
		args = append(args, "-drive", drive, "-device", "qemu-xhci", "-device", "usb-storage,drive=image,bootindex=1")
		nic += ",romfile="
	case Network:
		// libslirp keeps what DHCP calls the boot file in a field of 128 bytes.
		if len(m.options.BootFile) > 127 {
			return nil, fmt.Errorf("require a boot file of at most 127 characters, found %q", m.options.BootFile)
		}
		network += ",bootfile=" + strings.ReplaceAll(m.options.BootFile, ",", ",,")
		nic += ",bootindex=1"
	default:
		return nil, fmt.Errorf("require a medium to boot from, found %q", m.options.Medium)
	}
	return append(args, "-netdev", network, "-device", nic), nil
}

// Files of the Debian package ovmf.
const (
	FirmwareCode      = "/usr/share/OVMF/OVMF_CODE_4M.fd"
	FirmwareVariables = "/usr/share/OVMF/OVMF_VARS_4M.fd"
)

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}

// listen keeps the serial log and the marks in it until the machine is off.
func (m *Machine) listen(serial io.Reader) {
	lines := bufio.NewReader(io.TeeReader(serial, m.log))
	for {
		line, err := lines.ReadString('\n')
		if _, text, found := strings.Cut(line, "bench: ["); found {
			if _, text, found = strings.Cut(text, "] "); found {
				m.Mark(strings.TrimSpace(text))
			}
		}
		if err != nil {
			break
		}
	}
	_ = m.command.Wait() // killed or switched off: both are an end
	_ = m.log.Close()
	close(m.done)
}

// Mark notes how far the machine is.
func (m *Machine) Mark(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marks = append(m.marks, Mark{m.options.Now().Sub(m.started), text})
}

// Marks are those so far.
func (m *Machine) Marks() []Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Mark(nil), m.marks...)
}

// Done is closed when the machine is off.
func (m *Machine) Done() <-chan struct{} { return m.done }

// Stop switches the machine off.
func (m *Machine) Stop() {
	_ = m.command.Process.Kill() // gone already is as good
	<-m.done
}

// SerialLog is the file with what the machine wrote.
func (m *Machine) SerialLog() string { return m.log.Name() }

// CPU is the time that processors have worked for a machine that runs (proc(5), stat).
func (m *Machine) CPU() time.Duration {
	const ticks = 100 // a second, on every Linux of x86
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.command.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / ticks
}
