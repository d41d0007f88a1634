package vm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
	"slipway/test/bench/vm"
)

// machine switches one on that boots from the image of an environment.
func (s *service) machine(t *testing.T, o vm.Options, e *wire.InfraEnv, name string) *vm.Machine {
	t.Helper()
	dir, err := os.MkdirTemp("", "slipway-vm-machine-")
	require.NoError(t, err)
	o.Dir = dir
	if o.BootFile == "" {
		o.Image = filepath.Join(dir, "discovery.iso")
		s.download(t, e.DownloadURL, o.Image)
	}
	if o.DiskGiB > 0 {
		o.Disk = filepath.Join(dir, "disk.img")
	}
	m, err := vm.Start(o)
	require.NoError(t, err)
	t.Cleanup(func() {
		report(t, name, m)
		m.Stop()
		if t.Failed() {
			t.Logf("the machine's files are kept in %s; its last lines:\n%s", dir, lastLines(m.SerialLog()))
			return
		}
		_ = os.RemoveAll(dir)
	})
	return m
}

// report says when a machine had reached what, since it was switched on.
func report(t *testing.T, name string, m *vm.Machine) {
	t.Helper()
	var text strings.Builder
	for _, mark := range m.Marks() {
		fmt.Fprintf(&text, "  %6.1f s  %s\n", mark.After.Seconds(), mark.Text)
	}
	o := m.Options()
	t.Logf("%s (%s, %s): %.1f s of a processor\n%s", name, o.Firmware, o.Medium, m.CPU().Seconds(), &text)
}

func lastLines(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	const room = 3000
	return string(content[max(0, len(content)-room):])
}
