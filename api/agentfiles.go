package api

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"slipway/internal/model"
)

// agentName matches the files below /agent/: one for each architecture.
var agentName = regexp.MustCompile(`^slipway-agent-(x86_64|amd64|aarch64|arm64|ppc64le|s390x)$`)

// agentFiles holds the programs of the agent and their hashes. A replaced file gets a new hash.
type agentFiles struct {
	folder fs.FS // nil: none

	mu     sync.Mutex
	hashes map[string]agentHash
}

type agentHash struct {
	size    int64
	changed time.Time
	sha256  string
}

func newAgentFiles(folder fs.FS) *agentFiles {
	return &agentFiles{folder: folder, hashes: map[string]agentHash{}}
}

// agentArchitectures are the names the program for an architecture may have: OpenShift's
// and those of Go.
var agentArchitectures = map[string][]string{
	"x86_64": {"x86_64", "amd64"}, "aarch64": {"arm64", "aarch64"}, "arm64": {"arm64", "aarch64"},
	"ppc64le": {"ppc64le"}, "s390x": {"s390x"},
}

// program finds the program for an architecture and its hash, in hex.
func (a *agentFiles) program(architecture string) (name, sum string, err error) {
	err = errNoAgent("slipway-agent-" + architecture)
	for _, suffix := range agentArchitectures[architecture] {
		name = "slipway-agent-" + suffix
		if sum, err = a.sha256(name); err == nil || !errors.Is(err, model.ErrNotFound) {
			return name, sum, err
		}
	}
	return "", "", err
}

// sha256 is the hash of a program, in hex.
func (a *agentFiles) sha256(name string) (string, error) {
	if a.folder == nil || !agentName.MatchString(name) {
		return "", errNoAgent(name)
	}
	file, err := a.folder.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errNoAgent(name)
	}
	if err != nil {
		return "", fmt.Errorf("open %s: %w", name, err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", name, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.hashes[name]; known.size == info.Size() && known.changed.Equal(info.ModTime()) && known.sha256 != "" {
		return known.sha256, nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	a.hashes[name] = agentHash{size: info.Size(), changed: info.ModTime(), sha256: sum}
	return sum, nil
}

// changed is when the program with a hash was written, of those that were looked at.
func (a *agentFiles) changed(sum string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, known := range a.hashes {
		if known.sha256 == sum {
			return known.changed
		}
	}
	return time.Time{}
}

func errNoAgent(name string) error {
	return model.NotFoundf("the service has no agent program %s", name)
}

// downloadAgent answers with a program of the agent, for hosts that boot a discovery image.
func (s *server) downloadAgent(w http.ResponseWriter, r *http.Request) error {
	name := chi.URLParam(r, "file")
	sum, err := s.agents.sha256(name)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Etag", `"`+sum+`"`)
	http.ServeFileFS(w, r, s.agents.folder, name)
	return nil
}
