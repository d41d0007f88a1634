package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"slipway/internal/wire"
)

// Replace lets an agent become another program.
type Replace struct {
	// Dir is where the new program goes; it must allow programs to run.
	Dir string
	// Exec runs the program in place of this one, calling itself a version. It returns
	// only when that fails.
	Exec func(program, version string) error
}

// upgradeAgent fetches the agent of the service's version. As the contract has it, a
// failure is a result and no error.
func (a *Agent) upgradeAgent(ctx context.Context, req *wire.AgentUpgrade) (wire.UpgradeAgentResponse, error) {
	response := wire.UpgradeAgentResponse{AgentImage: req.AgentImage, Result: wire.UpgradeAgentResultSuccess}
	if err := a.fetchAgent(ctx, req); err != nil {
		a.log.Error("agent not upgraded", "to", req.AgentImage, "error", err)
		response.Result = wire.UpgradeAgentResultFailure
	}
	return response, nil
}

func (a *Agent) fetchAgent(ctx context.Context, req *wire.AgentUpgrade) error {
	if a.is(req) {
		return nil
	}
	program, err := a.programFor(req)
	if err != nil {
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
		return fmt.Errorf("%s: require sha256 %s, found %s", program.Path, program.SHA256, found)
	}
	if err := os.Rename(file.Name(), target); err != nil {
		return fmt.Errorf("put the agent in place: %w", err)
	}
	return nil
}

// becomeUpgraded runs the new agent in place of this one, which registers anew. The new
// one finds the step open in the journal, and itself to be what it asks for.
func (a *Agent) becomeUpgraded(_ context.Context, args []string) error {
	req, err := argument[wire.AgentUpgrade](args)
	if err != nil || a.is(req) {
		return err
	}
	program, err := a.programFor(req)
	if err != nil {
		return nil //nolint:nilerr // the result was failure: there is nothing to become
	}
	target := a.newProgram(program)
	if sum, err := fileHash(target); err != nil || sum != program.SHA256 {
		return nil //nolint:nilerr // as above
	}
	if err := a.state.forget(); err != nil {
		return err
	}
	a.log.Info("agent goes on as another version", "version", req.AgentImage, "program", target)
	return a.options.Replace.Exec(target, req.AgentImage)
}

func (a *Agent) is(req *wire.AgentUpgrade) bool {
	return req.AgentImage == a.options.Client.AgentVersion()
}

func (a *Agent) programFor(req *wire.AgentUpgrade) (wire.AgentProgram, error) {
	if a.options.Replace.Exec == nil {
		return wire.AgentProgram{}, errors.New("this agent cannot be replaced by another one")
	}
	architecture := runtime.GOARCH
	if architecture == "amd64" {
		architecture = "x86_64"
	}
	program, found := req.Programs[architecture]
	if !found {
		return program, fmt.Errorf("require a program for %s, found none", architecture)
	}
	if len(program.SHA256) != hex.EncodedLen(sha256.Size) {
		return program, fmt.Errorf("require the sha256 of %s, found %q", program.Path, program.SHA256)
	}
	return program, nil
}

// newProgram is where the program goes: beside the old one, which systemd would start.
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
