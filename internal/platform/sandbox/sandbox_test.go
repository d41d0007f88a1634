package sandbox_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"slipway/internal/platform/sandbox"
)

// TestMain lets the test binary be the program in the box.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "hostile" {
		hostile(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// attempts maps the attempts of a hostile program to their outcome.
type attempts map[string]string

// targets are the things it would like to have.
type targets struct{ Key, Socket, Address, Program, Work string }

func (a attempts) try(what string, err error) {
	a[what] = "done"
	if err != nil {
		a[what] = err.Error()
	}
}

// hostile acts as a program that knows where everything is.
func hostile(text string) {
	var t targets
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		panic(err)
	}
	a := attempts{}
	read := func(path string) error { _, err := os.ReadFile(path); return err }
	dial := func(network, address string) error {
		c, err := net.Dial(network, address)
		if err == nil {
			_ = c.Close()
		}
		return err
	}
	a.try("read the key of the service", read(t.Key))
	a.try("read /etc/shadow", read("/etc/shadow"))
	a.try("read the environment of another process", read(fmt.Sprintf("/proc/%d/environ", os.Getppid())))
	a.try("connect to the database's socket", dial("unix", t.Socket))
	a.try("connect to the service", dial("tcp", t.Address))
	a.try("change its own program", os.WriteFile(t.Program, nil, 0o700))
	a.try("change the system", os.WriteFile("/usr/bin/new", nil, 0o700))
	a.try("write outside of its folder", os.WriteFile("/new", nil, 0o700))
	a.try("mount", syscall.Mount("tmpfs", t.Work, "tmpfs", 0, ""))
	a.try("become another user", syscall.Setuid(1))
	a.try("become root", syscall.Setuid(0))
	a.try("make a user namespace with a capability", exec.Command("/usr/bin/unshare", "-Ur", "mount", "-t", "tmpfs", "x", "/usr").Run())
	a.try("signal all", syscall.Kill(-1, 0))
	a.try("write its folder", os.WriteFile(filepath.Join(t.Work, "mine"), []byte("x"), 0o600))
	a.try("write a huge file", os.Truncate(filepath.Join(t.Work, "mine"), 1<<30))
	calls(a)
	entries, _ := os.ReadDir("/")
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	name, _ := os.Hostname()
	a["sees"] = strings.Join(names, " ")
	a["is"] = fmt.Sprintf("%d of %d on %s, process %d", os.Getuid(), os.Getgid(), name, os.Getpid())
	status, _ := exec.Command("/bin/sh", "-c", "ulimit -c; ulimit -n").Output()
	a["limits"] = strings.Join(strings.Fields(string(status)), " ")
	_ = json.NewEncoder(os.Stdout).Encode(a)
}

// filtered prefixes the system calls that have to be refused by their filter, and passed those that must not be.
const filtered, passed = "call ", "may call "

// calls makes system calls that programs have no use for, and some that they have.
func calls(a attempts) {
	raw := func(number, first uintptr) error {
		if _, _, errno := unix.Syscall(number, first, 0, 0); errno != 0 {
			return errno
		}
		return nil
	}
	socket := func(domain, kind int) error {
		fd, err := unix.Socket(domain, kind, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}
	child := func(flags uintptr) error {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
		return cmd.Run()
	}
	for what, err := range map[string]error{
		filtered + "bpf":                              raw(unix.SYS_BPF, 99),
		filtered + "perf_event_open":                  raw(unix.SYS_PERF_EVENT_OPEN, 0),
		filtered + "keyctl":                           raw(unix.SYS_KEYCTL, 99),
		filtered + "io_uring_setup":                   raw(unix.SYS_IO_URING_SETUP, 0),
		filtered + "fsopen":                           raw(unix.SYS_FSOPEN, 0),
		filtered + "unshare":                          unix.Unshare(unix.CLONE_NEWUSER),
		filtered + "setns":                            raw(unix.SYS_SETNS, 99),
		filtered + "clone in a new namespace":         child(unix.CLONE_NEWUSER),
		filtered + "socket of AF_VSOCK":               socket(unix.AF_VSOCK, unix.SOCK_STREAM),
		filtered + "socket of AF_ALG":                 socket(unix.AF_ALG, unix.SOCK_SEQPACKET),
		filtered + "personality without random":       raw(unix.SYS_PERSONALITY, 0x40000),
		filtered + "personality with a call's number": raw(unix.SYS_PERSONALITY, unix.SYS_SOCKET),
		passed + "personality":                        raw(unix.SYS_PERSONALITY, 0xffffffff),
		passed + "clone":                              child(0),
		passed + "socket of AF_INET":                  socket(unix.AF_INET, unix.SOCK_STREAM),
		passed + "socket of AF_NETLINK":               socket(unix.AF_NETLINK, unix.SOCK_RAW),
	} {
		a.try(what, err)
	}
}

// machine is a machine with a service on it.
type machine struct {
	targets
	dir string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandbox")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o711))
	w := &machine{dir: dir, targets: targets{
		Key: filepath.Join(dir, "keys"), Socket: filepath.Join(dir, "s"), Program: filepath.Join(dir, "program"),
		Work: filepath.Join(dir, "work"),
	}}
	// Open to all: what keeps the program out is the box, not the modes.
	require.NoError(t, os.WriteFile(w.Key, []byte("key"), 0o644))
	for _, folder := range []string{w.Work, filepath.Join(dir, "root")} {
		require.NoError(t, os.Mkdir(folder, 0o777))
		require.NoError(t, os.Chmod(folder, 0o777))
	}
	self, err := os.Executable()
	require.NoError(t, err)
	program, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w.Program, program, 0o777))
	require.NoError(t, os.Chmod(w.Program, 0o777))
	for network, address := range map[string]string{"unix": w.Socket, "tcp": "127.0.0.1:0"} {
		l, err := new(net.ListenConfig).Listen(t.Context(), network, address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = l.Close() })
		if network == "tcp" {
			w.Address = l.Addr().String()
		}
	}
	require.NoError(t, os.Chmod(w.Socket, 0o777))
	return w
}

func (w *machine) box(uid int) sandbox.Box {
	return sandbox.Box{
		Root: filepath.Join(w.dir, "root"), Writable: []string{w.Work}, Readable: []string{w.Program, "/no/such/file"}, UID: uid, GID: uid,
		Limits: sandbox.Limits{Data: 4 << 30, File: 1 << 20, Files: 256, Processes: 512},
	}
}

func needSandbox(t *testing.T, w *machine, uid int) {
	t.Helper()
	var refused *sandbox.Refused
	if err := sandbox.Check(w.box(uid)); errors.As(err, &refused) {
		t.Skipf("SKIP: this machine makes no sandbox: %s", err)
	} else {
		require.NoError(t, err)
	}
}

// The program of a release does not get out, whoever it runs as.
func TestHostileProgramStaysInItsBox(t *testing.T) {
	t.Parallel()
	for name, uid := range map[string]int{"as another user": 65533, "as the user of the service": os.Geteuid()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if uid != os.Geteuid() && os.Geteuid() != 0 {
				t.Skip("SKIP: only root runs programs as another user")
			}
			w := newMachine(t)
			needSandbox(t, w, uid)
			order, err := json.Marshal(w.targets)
			require.NoError(t, err)
			var out, errs bytes.Buffer
			cmd := exec.CommandContext(t.Context(), w.Program, "hostile", string(order))
			cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = []string{"PATH=/usr/bin:/bin"}, w.Work, &out, &errs
			require.NoError(t, sandbox.Run(cmd, w.box(uid)), errs.String())
			var a attempts
			require.NoError(t, json.Unmarshal(out.Bytes(), &a), out.String())
			require.Equal(t, "done", a["write its folder"])
			for what, came := range a {
				switch {
				case strings.HasPrefix(what, filtered):
					require.Regexp(t, "operation not permitted$", came, what)
					continue
				case strings.HasPrefix(what, passed):
					require.Equal(t, "done", came, what)
					continue
				}
				switch what {
				case "sees", "is", "limits", "write its folder":
				case "become root", "become another user":
					if what == "become root" && uid == 0 {
						continue // it is, and may nothing with it
					}
					require.NotEqual(t, "done", came, what)
				default:
					require.NotEqual(t, "done", came, what)
				}
			}
			require.Contains(t, a["connect to the service"], "network is unreachable")
			require.Contains(t, a["connect to the database's socket"], "no such file")
			require.Contains(t, a["read the key of the service"], "no such file")
			require.Contains(t, a["write a huge file"], "file too large")
			for _, folder := range []string{"home", "root", "var", "run", "sys", "boot"} {
				require.NotContains(t, strings.Fields(a["sees"]), folder)
			}
			require.Equal(t, fmt.Sprintf("%d of %[1]d on installer, process 1", uid), a["is"])
			require.Equal(t, "0 256", a["limits"])
			key, err := os.ReadFile(w.Key)
			require.NoError(t, err)
			require.Equal(t, "key", string(key))
			left, err := os.ReadDir(filepath.Join(w.dir, "root"))
			require.NoError(t, err)
			require.Empty(t, left, "what was mounted is gone")
		})
	}
}

func TestErrorsOfTheProgramAreItsOwn(t *testing.T) {
	t.Parallel()
	w := newMachine(t)
	needSandbox(t, w, os.Geteuid())
	run := func(path string, args ...string) error {
		cmd := exec.CommandContext(t.Context(), path, args...)
		cmd.Dir = w.Work
		return sandbox.Run(cmd, w.box(os.Geteuid()))
	}
	var exit *exec.ExitError
	require.ErrorAs(t, run("/bin/sh", "-c", "exit 7"), &exit)
	require.Equal(t, 7, exit.ExitCode())
	require.ErrorIs(t, run("/no/such/program"), os.ErrNotExist)
	text := filepath.Join(w.Work, "text")
	require.NoError(t, os.WriteFile(text, []byte("hello"), 0o755))
	require.ErrorIs(t, run(text), syscall.ENOEXEC)
	require.NoError(t, os.Chmod(text, 0o600))
	require.ErrorIs(t, run(text), syscall.EACCES)
}

func TestSandboxThatCannotBeMadeIsRefused(t *testing.T) {
	t.Parallel()
	w := newMachine(t)
	box := w.box(os.Geteuid())
	box.Root = filepath.Join(w.dir, "nothing")
	cmd := exec.CommandContext(t.Context(), "/bin/true")
	var refused *sandbox.Refused
	require.ErrorAs(t, sandbox.Run(cmd, box), &refused)
}
