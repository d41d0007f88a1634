package api

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// The programs that the service offers. Their files have names like slipway-agent-amd64.
const (
	agentProgram      = "slipway-agent"
	controllerProgram = "slipway-controller"
)

// programFiles holds a program for each architecture and their hashes. A replaced file gets a new hash.
type programFiles struct {
	folder  fs.FS // nil: none
	program string

	mu     sync.Mutex
	hashes map[string]programHash
}

type programHash struct {
	size    int64
	changed time.Time
	sha256  string
}

func newProgramFiles(folder fs.FS, program string) *programFiles {
	return &programFiles{folder: folder, program: program, hashes: map[string]programHash{}}
}

// programArchitectures are the names the program for an architecture may have: OpenShift's names and Go's.
var programArchitectures = map[string][]string{
	"x86_64": {"amd64", "x86_64"}, "aarch64": {"arm64", "aarch64"}, "arm64": {"arm64", "aarch64"},
	"ppc64le": {"ppc64le"}, "s390x": {"s390x"},
}

// find finds the program for an architecture and its hash, in hex.
func (p *programFiles) find(architecture string) (name, sum string, err error) {
	for _, suffix := range programArchitectures[architecture] {
		name = p.program + "-" + suffix
		if sum, err = p.sha256(name); err == nil || !errors.Is(err, model.ErrNotFound) {
			return name, sum, err
		}
	}
	return "", "", p.missingFor(architecture)
}

// known reports whether a file has the name of a program for some architecture.
func (p *programFiles) known(name string) bool {
	suffix, ok := strings.CutPrefix(name, p.program+"-")
	for _, suffixes := range programArchitectures {
		if ok && slices.Contains(suffixes, suffix) {
			return true
		}
	}
	return false
}

// sha256 returns the hash of a program, in hex.
func (p *programFiles) sha256(name string) (string, error) {
	if p.folder == nil || !p.known(name) {
		return "", p.missing(name)
	}
	file, err := p.folder.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", p.missing(name)
	}
	if err != nil {
		return "", fmt.Errorf("open %s: %w", name, err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.hashes[name]; known.size == info.Size() && known.changed.Equal(info.ModTime()) && known.sha256 != "" {
		return known.sha256, nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	p.hashes[name] = programHash{size: info.Size(), changed: info.ModTime(), sha256: sum}
	return sum, nil
}

// changed returns when the program with a hash was written; zero for a program that was not looked at.
func (p *programFiles) changed(sum string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, known := range p.hashes {
		if known.sha256 == sum {
			return known.changed
		}
	}
	return time.Time{}
}

func (p *programFiles) missing(name string) error {
	return model.NotFoundf("the service has no program %s", name)
}

// missingFor makes the error for hosts of an architecture whose program is missing, with the way to get it.
func (p *programFiles) missingFor(architecture string) error {
	suffix := architecture
	if names := programArchitectures[architecture]; len(names) > 0 {
		suffix = names[0] // as make build writes it
	}
	return model.NotFoundf("the service has no program for %s: %s-%s is missing beside it; "+
		"build it with make build, or name its folder in SLIPWAY_AGENT_BINARIES", architecture, p.program, suffix)
}

// list returns the programs that exist, below a path, by architecture.
func (p *programFiles) list(path string) (map[string]wire.AgentProgram, error) {
	out := map[string]wire.AgentProgram{}
	for architecture := range programArchitectures {
		name, sum, err := p.find(architecture)
		if errors.Is(err, model.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out[architecture] = wire.AgentProgram{Path: path + name, SHA256: sum}
	}
	return out, nil
}
