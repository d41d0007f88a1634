package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"slipway/internal/platform/hostexec"
	"slipway/internal/platform/programsig"
	"slipway/internal/wire"
)

const (
	// startLimit is how long a new program may take to tell its version.
	startLimit = time.Minute
	busyPause  = 100 * time.Millisecond
	// provePause is between two looks at whether this agent is registered, of which there
	// are so many: ten minutes.
	provePause = time.Second
	proveLooks = 600
	// triedFor is how long a program that did not register is not begun again. It ends: the
	// service may just have been away, and asks a host nothing else until it is upgraded.
	triedFor = 15 * time.Minute
)

// errUnproven ends an agent that cannot register, so that the one before it comes back.
var errUnproven = errors.New("this version of the agent did not get registered")

// errAnotherProgram: what was served is not the program that the service named.
var errAnotherProgram = errors.New("another program was served")

// Replace lets an agent become another program.
type Replace struct {
	// Dir is where the new program goes; it must allow programs to run.
	Dir string
	// Exec runs the program in place of this one, calling itself a version. It returns
	// only when that fails.
	Exec func(program, version string) error
	// Key verifies programs; one that is not known leaves it at their hash (images of a service that signs none).
	Key programsig.PublicKey
}

// upgradeAgent fetches the agent of the service's version. As the contract has it, a
// failure is a result and no error.
func (a *Agent) upgradeAgent(ctx context.Context, req *wire.AgentUpgrade) (wire.AgentUpgraded, error) {
	response := wire.AgentUpgraded{
		UpgradeAgentResponse: wire.UpgradeAgentResponse{AgentImage: req.AgentImage, Result: wire.UpgradeAgentResultSuccess},
	}
	if err := a.fetchAgent(ctx, req); err != nil {
		a.log.Error("agent not upgraded", "to", req.AgentImage, "error", err)
		response.Result = wire.UpgradeAgentResultFailure
		if errors.Is(err, programsig.ErrNotSigned) || errors.Is(err, errAnotherProgram) {
			response.Refused = a.redact(err.Error())
		}
	}
	return response, nil
}

// upgraded reports whether the output of a step says that there is a program to become.
func upgraded(output string) bool {
	var response wire.UpgradeAgentResponse
	return json.Unmarshal([]byte(output), &response) == nil && response.Result == wire.UpgradeAgentResultSuccess
}

func (a *Agent) fetchAgent(ctx context.Context, req *wire.AgentUpgrade) error {
	if a.is(req) {
		return nil
	}
	program, err := a.programFor(req)
	if err != nil {
		return err
	}
	if err := errors.Join(a.signed(req, program), a.again(program)); err != nil {
		return err
	}
	target := a.newProgram(program)
	if sum, err := fileHash(target); err == nil && sum == program.SHA256 {
		return nil
	}
	file, err := os.CreateTemp(a.options.Replace.Dir, ".slipway-agent-*")
	if err != nil {
		return fmt.Errorf("make a file for the agent: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }()
	sum := sha256.New()
	err = a.options.Client.Program(ctx, program.Path, io.MultiWriter(file, sum))
	if err = errors.Join(err, file.Chmod(0o755), file.Close()); err != nil {
		return err
	}
	if found := hex.EncodeToString(sum.Sum(nil)); found != program.SHA256 {
		return fmt.Errorf("%s: %w: require sha256 %s, found %s", program.Path, errAnotherProgram, program.SHA256, found)
	}
	if err := a.starts(ctx, file.Name()); err != nil {
		if ctx.Err() == nil {
			err = errors.Join(err, a.markTried(program)) // so that it is not fetched every few minutes
		}
		return err
	}
	if err := os.Rename(file.Name(), target); err != nil {
		return fmt.Errorf("put the agent in place: %w", err)
	}
	return nil
}

// starts reports whether a program runs at all where this agent does.
func (a *Agent) starts(ctx context.Context, program string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		_, err := hostexec.Exec{}.Run(ctx, hostexec.Cmd{Name: program, Args: []string{"--version"}})
		if !errors.Is(err, syscall.ETXTBSY) { // another command that just starts still has the file open
			return err
		}
		if err := a.host.Sleep(ctx, busyPause); err != nil {
			return err
		}
	}
}

// becomeUpgraded runs the new agent in place of this one, which registers anew. The new one finds
// the step open in the journal, and itself to be the requested version. If it ends before that, its unit
// starts this one again, which finds the step open as well and does not try it again.
func (a *Agent) becomeUpgraded(ctx context.Context, args []string) error {
	req, err := argument[wire.AgentUpgrade](args)
	if err != nil {
		return err
	}
	program, err := a.programFor(req)
	if err != nil {
		return nil //nolint:nilerr // it was this version already, and not begun as a program
	}
	if a.is(req) {
		return a.prove(ctx, program)
	}
	if err := a.signed(req, program); err != nil {
		a.log.Error("agent is unchanged", "version", req.AgentImage, "error", err)
		return nil
	}
	target := a.newProgram(program)
	if a.begun(program) {
		a.log.Error("agent is unchanged: the other one did not register", "version", req.AgentImage, "program", target)
		return nil
	}
	if err := errors.Join(a.markTried(program), a.state.forget()); err != nil {
		return err
	}
	a.log.Info("agent continues as another version", "version", req.AgentImage, "program", target)
	return a.options.Replace.Exec(target, req.AgentImage)
}

// prove waits until this agent is registered: then it may be begun again. Where it does
// not get that far its unit starts the one before it, which may.
func (a *Agent) prove(ctx context.Context, program wire.AgentProgram) error {
	for look := 0; a.begun(program); look++ {
		switch {
		case a.options.Reclaim || a.state.registered(a.registration()):
			return a.unmark(program)
		case look == proveLooks:
			a.end(errUnproven)
			return errUnproven
		}
		if err := a.host.Sleep(ctx, provePause); err != nil {
			return err
		}
	}
	return nil
}

// again reports why a program is not to be begun once more, and otherwise forgets that
// it was.
func (a *Agent) again(p wire.AgentProgram) error {
	info, err := os.Stat(a.mark(p))
	if err != nil {
		return nil //nolint:nilerr // it was not begun
	}
	// A mark of the future is one of a clock that was wrong.
	if age := a.host.Now().Sub(info.ModTime()); age >= 0 && age < triedFor {
		return fmt.Errorf("%s was begun %s ago and did not register", p.Path, age.Round(time.Second))
	}
	return a.unmark(p)
}

// mark returns the path of the file that says that a program was begun in this boot and has not registered.
func (a *Agent) mark(p wire.AgentProgram) string {
	return filepath.Join(a.state.dir, "tried-"+filepath.Base(p.SHA256))
}

func (a *Agent) begun(p wire.AgentProgram) bool {
	_, err := os.Stat(a.mark(p))
	return err == nil
}

func (a *Agent) markTried(p wire.AgentProgram) error {
	if err := os.WriteFile(a.mark(p), nil, 0o600); err != nil {
		return fmt.Errorf("note that the agent is tried: %w", err)
	}
	return nil
}

func (a *Agent) unmark(p wire.AgentProgram) error {
	if err := os.Remove(a.mark(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget that the agent was tried: %w", err)
	}
	return nil
}

func (a *Agent) is(req *wire.AgentUpgrade) bool {
	return req.AgentImage == a.options.Client.AgentVersion()
}

func (a *Agent) programFor(req *wire.AgentUpgrade) (wire.AgentProgram, error) {
	if a.options.Replace.Exec == nil {
		return wire.AgentProgram{}, errors.New("this agent cannot be replaced by another one")
	}
	architecture := architecture()
	program, found := req.Programs[architecture]
	if !found {
		return program, fmt.Errorf("the request has no program for %s", architecture)
	}
	if len(program.SHA256) != hex.EncodedLen(sha256.Size) {
		return program, fmt.Errorf("require the sha256 of %s, found %q", program.Path, program.SHA256)
	}
	return program, nil
}

// signed returns an error unless the service let this host, in this boot, become the program from the version it runs.
func (a *Agent) signed(req *wire.AgentUpgrade, program wire.AgentProgram) error {
	if !a.options.Replace.Key.Known() {
		return nil
	}
	return a.options.Replace.Key.Verify(programsig.Change{
		HostID: a.hostID.String(), Boot: a.state.boot, From: a.options.Client.AgentVersion(), To: req.AgentImage,
		Architecture: architecture(), SHA256: program.SHA256,
	}, program.Signatures)
}

// architecture names the architecture of this program as OpenShift does.
func architecture() string {
	if runtime.GOARCH == "amd64" {
		return "x86_64"
	}
	return runtime.GOARCH
}

// newProgram returns the path the program is written to: beside the old one, which systemd would start.
func (a *Agent) newProgram(p wire.AgentProgram) string {
	return filepath.Join(a.options.Replace.Dir, "slipway-agent-"+p.SHA256[:12])
}

func fileHash(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
