package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// reportFile is where the helper reports.
const reportFile = 3

// failure is the operation that the helper could not do.
type failure struct {
	what    string
	program bool
	err     error
}

func (f *failure) Error() string { return f.what + ": " + f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// step runs one step of the helper, and names it.
type step struct {
	what string
	do   func() error
}

// enter makes this process, which is alone in new namespaces, the program of the order. It returns only with an error.
func enter(text string) error {
	runtime.LockOSThread() // what a thread gives up is its own
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return fmt.Errorf("read order: %w", err)
	}
	unix.CloseOnExec(reportFile)
	for _, s := range []step{
		{"keep mounts from the machine", func() error { return unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, "") }},
		{"mount " + o.Root, func() error {
			return unix.Mount("tmpfs", o.Root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,nr_inodes=4k,mode=755")
		}},
		{"fill the box", func() error { return fill(o.Box) }},
		{"leave the machine's files", func() error { return leave(o.Root) }},
		{"name the box", name},
		{"limit the box", o.Limits.set},
		{"give up capabilities", giveUp},
		{"filter system calls", filterCalls},
	} {
		if err := s.do(); err != nil {
			return &failure{what: s.what, err: err}
		}
	}
	if o.Path == "" {
		os.Exit(0) //nolint:forbidigo // the helper ends, not the service
	}
	if err := os.Chdir(o.Dir); err != nil {
		return &failure{what: "enter " + o.Dir, err: err}
	}
	return &failure{what: "execute", program: true, err: syscall.Exec(o.Path, o.Args, os.Environ())}
}

// name gives the box a name of its own where it may: the filters of container engines refuse sethostname(2), and let all else pass.
func name() error {
	if err := unix.Sethostname([]byte("installer")); err != nil && !errors.Is(err, unix.EPERM) {
		return err
	}
	return nil
}

// system lists the paths that programs of a distribution are linked with and read; none holds secrets.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/ssl", "/etc/pki", "/etc/crypto-policies",
	"/etc/localtime", "/proc/sys/crypto/fips_enabled",
}

// ofNetwork lists the files that programs with a network read too.
var ofNetwork = []string{"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/services"}

var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// fill puts into the root of the box what is seen in it.
func fill(box Box) error {
	readable := append(append([]string{}, system...), box.Readable...)
	if box.Network {
		readable = append(readable, ofNetwork...)
	}
	for _, path := range readable {
		err := bind(box.Root, path, true)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, path := range append(append([]string{}, devices...), box.Writable...) {
		if err := bind(box.Root, path, false); err != nil {
			return err
		}
	}
	return unix.Mount("", box.Root, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "")
}

// bind shows a file or folder in the box; links between folders of the system, as /bin is one, stay links.
func bind(root, path string, readOnly bool) error {
	there := filepath.Join(root, path)
	if to, err := os.Readlink(path); err == nil && filepath.Dir(path) == "/" {
		return os.Symlink(to, there)
	}
	from, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := place(there, info.IsDir()); err != nil {
		return err
	}
	// Not what is mounted below a writable folder: the root of the box is.
	flags := uintptr(unix.MS_BIND)
	if readOnly {
		flags |= unix.MS_REC
	}
	if err := unix.Mount(from, there, "", flags, ""); err != nil {
		return &os.PathError{Op: "bind", Path: path, Err: err}
	}
	if !readOnly {
		return nil
	}
	attributes := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	if err := unix.MountSetattr(unix.AT_FDCWD, there, unix.AT_RECURSIVE, &attributes); err != nil {
		return &os.PathError{Op: "make read-only", Path: path, Err: err}
	}
	return nil
}

func place(path string, folder bool) error {
	if folder {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// leave makes the root of the box the root of this process, and drops all others: pivot_root(2), "pivot_root(".", ".")".
func leave(root string) error {
	return errors.Join(os.Chdir(root), unix.PivotRoot(".", "."), unix.Unmount(".", unix.MNT_DETACH), os.Chdir("/"))
}

func (l Limits) set() error {
	for resource, most := range map[int]uint64{
		unix.RLIMIT_DATA: l.Data, unix.RLIMIT_FSIZE: l.File, unix.RLIMIT_NOFILE: l.Files, unix.RLIMIT_NPROC: l.Processes,
	} {
		if most == 0 {
			continue
		}
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}

// giveUp leaves the program no capability, and no way to one: not as user 0 of the box either, and by no file.
func giveUp() error {
	const noRoot, noRootLocked = 1 << 0, 1 << 1 // SECBIT_NOROOT of capabilities(7)
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot|noRootLocked, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}
