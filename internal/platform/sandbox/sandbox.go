// Package sandbox runs a program that is not trusted: in user, mount, process, IPC, host name and network namespaces of its own,
// with the folders that it is given and nothing else, as a user without capabilities, within limits. It needs no privileges where
// the machine lets its users make namespaces (user_namespaces(7)).
//
// A program that imports this package is also the helper that enters the sandbox: it starts itself again, in new namespaces, with
// the name of the helper as its first argument.
package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// Box holds what a program finds, and its permissions.
type Box struct {
	// Root is an empty folder that the user may enter: the mount point of what the program sees as /.
	Root string
	// Writable and Readable are folders and files, by the paths that they have in the box too. Readable ones that do not exist are
	// left out. The program itself has to be among them.
	Writable, Readable []string
	// Network leaves the program the network of the machine.
	Network  bool
	UID, GID int
	Limits   Limits
}

// Limits bound each process in the box; zero is no limit.
type Limits struct {
	Data      uint64 // bytes of memory, setrlimit(2) RLIMIT_DATA
	File      uint64 // bytes of a file
	Files     uint64 // that are open
	Processes uint64 // of the user in the box, with threads
}

// Refused is the error of a machine that does not let the process make a sandbox. The program has not run.
type Refused struct{ Err error }

func (r *Refused) Error() string { return "make a sandbox: " + r.Err.Error() }

func (r *Refused) Unwrap() error { return r.Err }

// helper is the name by which the program knows that it is to enter a sandbox.
const helper = "slipway-sandbox"

// order is the input of the helper.
type order struct {
	Box
	Path string // empty: nothing is run, and the sandbox is left again
	Args []string
	Dir  string
}

// refusal is the report of the helper, as JSON; nothing when the program runs.
type refusal struct {
	Program bool // the program could not be executed; else there is no sandbox
	What    string
	Errno   syscall.Errno
}

// Run runs a command in the box to its end, like cmd.Run, and replaces its SysProcAttr: it is a process group of its own, and
// killed when the thread ends that called this. A *Refused means that it has not run.
func Run(cmd *exec.Cmd, box Box) error {
	o := order{Box: box, Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir}
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encode the order of a sandbox: %w", err)
	}
	report, reports, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a sandbox: %w", err)
	}
	defer func() { _ = report.Close() }()
	cmd.Path, cmd.Args, cmd.Dir = "/proc/self/exe", []string{helper, string(text)}, "/"
	cmd.Err = nil // what exec.Command says of a program that is found in the box only
	cmd.ExtraFiles = []*os.File{reports}
	cmd.SysProcAttr = attributes(box)
	err = cmd.Start()
	_ = reports.Close()
	if err != nil {
		return &Refused{err}
	}
	said, _ := io.ReadAll(report) // ends when the program is executed, or the helper is gone
	err = cmd.Wait()
	var r refusal
	switch {
	case len(said) == 0:
		return err
	case json.Unmarshal(said, &r) != nil:
		return &Refused{fmt.Errorf("the helper said %q", said)}
	case r.Program:
		return &os.PathError{Op: "execute", Path: o.Path, Err: r.Errno}
	}
	return &Refused{&os.SyscallError{Syscall: r.What, Err: r.Errno}}
}

// Check returns a *Refused when this machine makes no sandbox.
func Check(box Box) error { return Run(&exec.Cmd{}, box) }

func attributes(box Box) *syscall.SysProcAttr {
	root := os.Geteuid() == 0
	a := &syscall.SysProcAttr{
		Setpgid: true, Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		// One user and one group are all there is in the box. Only root may map others than its own.
		UidMappings:                []syscall.SysProcIDMap{{ContainerID: box.UID, HostID: box.UID, Size: 1}},
		GidMappings:                []syscall.SysProcIDMap{{ContainerID: box.GID, HostID: box.GID, Size: 1}},
		GidMappingsEnableSetgroups: root,
		Credential:                 &syscall.Credential{Uid: uint32(box.UID), Gid: uint32(box.GID), NoSetGroups: !root},
		// The helper mounts, and gives up that it could: capabilities in the namespaces, none outside.
		AmbientCaps: []uintptr{capSetpcap, capSysAdmin},
	}
	if !box.Network {
		a.Cloneflags |= syscall.CLONE_NEWNET
	}
	return a
}

// Capabilities of capabilities(7).
const (
	capSetpcap  = 8
	capSysAdmin = 21
)

func init() {
	if len(os.Args) != 2 || os.Args[0] != helper {
		return
	}
	var failed *failure
	err := enter(os.Args[1])
	r := refusal{What: err.Error(), Errno: syscall.EPERM}
	if errors.As(err, &failed) {
		r.Program, r.What = failed.program, failed.what
	}
	_ = errors.As(err, &r.Errno)
	text, _ := json.Marshal(r)
	_, _ = os.NewFile(reportFile, "report").Write(text)
	os.Exit(1) //nolint:forbidigo // the helper ends, not the service
}
