package cluster_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
	"slipway/test/bench/vm"
)

// machine is one host of the cluster, over all times that it is switched on.
type machine struct {
	hostPlan
	options vm.Options

	mu    sync.Mutex
	now   *vm.Machine
	marks []vm.Mark // of the times before
	// repeats is how often the image is written once more, because of what went wrong.
	repeats int
	began   time.Time
	before  time.Duration // of a processor, the times before
}

// plug makes a machine and switches it on.
func plug(t *testing.T, l *site, s shape, h hostPlan, image string) *machine {
	t.Helper()
	dir := filepath.Join(l.dir, h.name)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	memory := s.workerMiB
	if h.master {
		memory = s.masterMiB
	}
	m := &machine{hostPlan: h, began: time.Now(), options: vm.Options{
		Number: h.number, Dir: dir, Firmware: vm.Firmware(*firmware), Medium: vm.CD, Image: image, Now: time.Now,
		MemoryMiB: memory, CPUs: s.processors, Disk: filepath.Join(dir, "disk.img"), DiskGiB: 40,
		Tap: vm.Tap{Namespace: l.Name, Interface: tapOf(h)}, Boot: vm.DiskFirst,
	}}
	t.Cleanup(m.off)
	return m
}

// on switches the machine on.
func (m *machine) on(t *testing.T) {
	t.Helper()
	started, err := vm.Start(m.options)
	require.NoError(t, err)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = started
}

// off cuts the power.
func (m *machine) off() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == nil {
		return
	}
	m.marks, m.before = m.seen(), m.cpu()
	m.now.Stop()
	m.now = nil
}

// seen lists all marks since the machine was first switched on; under the lock.
func (m *machine) seen() []vm.Mark {
	if m.now == nil {
		return m.marks
	}
	all := append([]vm.Mark{}, m.marks...)
	offset := m.now.Started().Sub(m.began)
	for _, mark := range m.now.Marks() {
		all = append(all, vm.Mark{After: mark.After + offset, Text: mark.Text})
	}
	return all
}

// cpu returns the machine's processor time so far; under the lock.
func (m *machine) cpu() time.Duration {
	if m.now == nil {
		return m.before
	}
	return m.before + m.now.CPU()
}

// written counts how often an image began to be written to the disk.
func (m *machine) written() int { return m.marked(writing) }

// marked counts the marks that begin so.
func (m *machine) marked(prefix string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return count(m.seen(), prefix)
}

// What marks of the bench's scripts begin with: the wrapper of coreos-installer, and the end of a node's first boot.
const (
	writing   = "coreos-installer"
	firstBoot = "first boot"
)

func count(marks []vm.Mark, prefix string) (n int) {
	for _, mark := range marks {
		if strings.HasPrefix(mark.Text, prefix) {
			n++
		}
	}
	return n
}

// is reports whether a host is this machine.
func (m *machine) is(h *wire.Host) bool { return h.ID.String() == vm.ID(m.number) }

// lastLines returns the end of the machine's console.
func (m *machine) lastLines() string {
	content, err := os.ReadFile(filepath.Join(m.options.Dir, "serial.log"))
	if err != nil {
		return err.Error()
	}
	const room = 2000
	return fmt.Sprintf("%s: …%s", m.name, content[max(0, len(content)-room):])
}
