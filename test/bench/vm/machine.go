// Package vm runs machines of the bench: QEMU without the help of a processor, in QEMU's
// own network, in which 10.0.2.2 is the loopback interface of this machine.
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

// Start switches a machine on. Done once more with the same options after it was off, the
// machine has the disk, the firmware's variables and the serial log of before.
func Start(o Options) (*Machine, error) {
	log, err := os.OpenFile(filepath.Join(o.Dir, "serial.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
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
	words, err := m.options.command()
	if err != nil {
		return err
	}
	if err := m.options.prepare(); err != nil {
		return err
	}
	m.command = exec.Command(words[0], words[1:]...) //nolint:gosec // the bench's own machine
	// ip(8) becomes QEMU, and keeps what is said here: no machine outlives its bench.
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

// Marks lists the marks so far.
func (m *Machine) Marks() []Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Mark(nil), m.marks...)
}

// Done returns a channel that is closed when the machine is off.
func (m *Machine) Done() <-chan struct{} { return m.done }

// Options returns the options that the machine was switched on with.
func (m *Machine) Options() Options { return m.options }

// Started returns when the machine was switched on.
func (m *Machine) Started() time.Time { return m.started }

// Stop switches the machine off without a warning, as a power cut does.
func (m *Machine) Stop() {
	_ = m.command.Process.Kill() // gone already is as good
	<-m.done
}

// SerialLog returns the file with the machine's output.
func (m *Machine) SerialLog() string { return m.log.Name() }

// CPU returns the time that processors have worked for the machine (proc(5), stat).
func (m *Machine) CPU() time.Duration {
	select {
	case <-m.done:
		return m.command.ProcessState.UserTime() + m.command.ProcessState.SystemTime()
	default:
	}
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
