package release

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"slipway/internal/model"
	"slipway/internal/platform/sandbox"
)

// GenerateError is a failure of the installer, with its output.
type GenerateError struct {
	Command string
	// ExitCode is the installer's own; -1 when a signal ended it, or it never started.
	ExitCode int
	Log      string // all of its output, without secrets
	err      error
	final    bool
}

// Error ends with the last lines of the installer's output.
func (e *GenerateError) Error() string {
	text := fmt.Sprintf("openshift-install %s: %s", e.Command, e.err)
	if e.Log == "" {
		return text
	}
	return text + ": " + lastWords(e.Log)
}

func (e *GenerateError) Unwrap() error { return e.err }

// Retryable reports whether another try can end differently: the installer was killed, or could not be started
// for a reason that passes.
func (e *GenerateError) Retryable() bool { return !e.final }

// crashes are signals that a program gets for what it does itself; it would do it again.
var crashes = []syscall.Signal{
	syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGSYS,
}

// failure describes why a command of the installer did not succeed.
func (g *generation) failure(ctx context.Context, command string, err error) *GenerateError {
	f := &GenerateError{Command: command, ExitCode: -1, Log: g.mask.text(g.log.String()), err: err}
	if ctx.Err() != nil {
		return f
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if why := g.unrunnable(err); why != nil {
			f.err, f.final = why, true
		}
		return f
	}
	f.ExitCode = exit.ExitCode()
	if library := missingLibrary(f.ExitCode, f.Log); library != "" {
		f.err = model.Unprocessablef("%s, which openshift-install of release %s is linked against, "+
			"is missing on the machine of this service%s", library, g.installer.Release.Version, packageOf(library))
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	f.final = f.ExitCode >= 0 || ok && slices.Contains(crashes, status.Signal())
	return f
}

// loaderExit is the exit code of glibc's loader when a library is missing.
const loaderExit = 127

var loaderMessage = regexp.MustCompile(`error while loading shared libraries: ([^:\s]+):`)

// missingLibrary returns the library that the loader did not find; empty when that is not why a program ended.
func missingLibrary(code int, log string) string {
	found := loaderMessage.FindStringSubmatch(log)
	if code != loaderExit || found == nil {
		return ""
	}
	return found[1]
}

// packageOf says which package has a library. The installers for bare metal of 4.14 and 4.15 need libvirt's (openshift/installer,
// images/baremetal/Dockerfile.ci).
func packageOf(library string) string {
	if !strings.HasPrefix(library, "libvirt") {
		return ""
	}
	return "; its package is libvirt-libs on RHEL and Fedora, libvirt0 on Debian and Ubuntu"
}

// unrunnable explains why the kernel does not start the program on this machine; nil when another try can
// succeed.
func (g *generation) unrunnable(err error) error {
	i := g.installer
	own := i.releases.opts.Architecture
	var refused *sandbox.Refused
	switch {
	case errors.As(err, &refused):
		return model.Unprocessablef("the machine of this service does not allow a sandbox for openshift-install "+
			"(INSTALLER_SANDBOX=required): %s", refused.Err)
	case errors.Is(err, syscall.ENOEXEC):
		return model.Unprocessablef("require an openshift-install for linux/%s, which this service runs on, found one for linux/%s in release %s",
			own, programArchitecture(i.program.path, i.Release.Architecture), i.Release.Version)
	case errors.Is(err, fs.ErrNotExist) && exists(i.program.path):
		return model.Unprocessablef("require the libraries of RHEL on the machine of this service: "+
			"openshift-install of release %s is linked against them, and its loader %s does not exist here",
			i.Release.Version, loader(i.program.path))
	case errors.Is(err, fs.ErrPermission):
		return model.Unprocessablef("this machine does not execute programs in %s "+
			"(is it mounted noexec, or may the service not switch to INSTALLER_USER?): %s", i.releases.cache.dir, err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// machineNames are the architectures of OpenShift as Go names them.
var machineNames = map[elf.Machine]string{
	elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_PPC64: "ppc64le", elf.EM_S390: "s390x",
}

// programArchitecture reads which architecture a program is for; otherwise is returned when it does not say so.
func programArchitecture(path, otherwise string) string {
	program, err := elf.Open(path)
	if err != nil {
		return otherwise
	}
	defer func() { _ = program.Close() }()
	if name, ok := machineNames[program.Machine]; ok {
		return name
	}
	return strings.ToLower(program.Machine.String())
}

// loader returns the dynamic loader that a program names.
func loader(path string) string {
	program, err := elf.Open(path)
	if err != nil {
		return "(unknown)"
	}
	defer func() { _ = program.Close() }()
	section := program.Section(".interp")
	if section == nil {
		return "(unknown)"
	}
	data, err := section.Data()
	if err != nil {
		return "(unknown)"
	}
	return strings.TrimRight(string(data), "\x00")
}
