// Package netlab makes networks of the bench out of the kernel's network namespaces, with
// processes and time servers in them. It needs root.
package netlab

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// prefix begins the names of all namespaces and folders of the bench; the process id of
// their owner follows, so that two benches do not sweep each other away.
const prefix = "slipwaybench"

// Mine makes a name that is this process's.
func Mine(name string) string { return fmt.Sprintf("%s%d-%s", prefix, os.Getpid(), name) }

// orphaned reports whether the owner of a name is gone.
func orphaned(name string) bool {
	owner, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "-")
	pid, err := strconv.Atoi(owner)
	return err == nil && syscall.Kill(pid, 0) != nil
}

// Sweep removes what benches left that ended without cleaning up.
func Sweep(t *testing.T) {
	t.Helper()
	spaces, _ := filepath.Glob("/run/netns/" + prefix + "*")
	removed := 0
	for _, path := range spaces {
		if name := filepath.Base(path); orphaned(name) {
			RemoveSpace(name)
			removed++
		}
	}
	if removed > 0 {
		t.Logf("removed %d namespaces of a bench that did not end by itself", removed)
	}
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, path := range folders {
		if orphaned(filepath.Base(path)) {
			_ = os.RemoveAll(path)
		}
	}
}

// RemoveSpace ends what runs in a namespace of the bench, by process id, and removes it.
func RemoveSpace(name string) {
	pids, _ := processes(name)
	for _, pid := range pids {
		if pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = exec.Command("ip", "netns", "del", name).Run()
}

func processes(name string) (pids []int, err error) {
	out, err := exec.Command("ip", "netns", "pids", name).Output()
	for text := range strings.FieldsSeq(string(out)) {
		if pid, err := strconv.Atoi(text); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// Space is a network namespace of the bench, known to ip(8) by its name.
type Space struct {
	Name string
}

// NewSpace makes a namespace; it and all processes in it end with the test.
func NewSpace(t *testing.T, name string) *Space {
	t.Helper()
	s := &Space{Name: Mine(name)}
	require.NoError(t, Command("ip", "netns", "add", s.Name))
	t.Cleanup(func() { RemoveSpace(s.Name) })
	require.NoError(t, s.IP("link", "set", "lo", "up"))
	return s
}

// Processes lists the ids of the processes in the namespace.
func (s *Space) Processes(t *testing.T) []int {
	t.Helper()
	pids, err := processes(s.Name)
	require.NoError(t, err)
	return pids
}

// Command runs a command of the machine.
func Command(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// IP runs ip(8) in the namespace.
func (s *Space) IP(args ...string) error {
	return Command("ip", append([]string{"-n", s.Name}, args...)...)
}

// All runs ip(8) for each line, until one fails.
func (s *Space) All(lines ...string) error {
	for _, line := range lines {
		if err := s.IP(strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

// Start runs a program in the namespace until the test ends; what it says goes to a file.
// The kernel kills it when this process dies.
func (s *Space) Start(t *testing.T, log string, env []string, program string, args ...string) *exec.Cmd {
	t.Helper()
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	defer out.Close()
	cmd := exec.Command("ip", append([]string{"netns", "exec", s.Name, program}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { End(cmd) })
	return cmd
}

// End asks a process to end, and kills it when it does not.
func End(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_ = cmd.Wait()
}

// Inside calls a function on a thread that is in the namespace: sockets it opens belong
// there until they are closed.
func (s *Space) Inside(do func() error) error {
	home, err := os.Open("/proc/self/ns/net")
	if err != nil {
		return err
	}
	defer home.Close()
	there, err := os.Open("/run/netns/" + s.Name)
	if err != nil {
		return err
	}
	defer there.Close()
	runtime.LockOSThread()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	err = do()
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		panic("a thread is lost in a namespace of the bench: " + back.Error())
	}
	runtime.UnlockOSThread()
	return err
}

// Dial connects from within the namespace; addresses are numbers, so that no resolver looks
// them up on another thread.
func (s *Space) Dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	err = s.Inside(func() (err error) {
		conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}
