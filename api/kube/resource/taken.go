package resource

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Digest is of settings.
type Digest [sha256.Size]byte

// DigestOf returns the digest of settings.
func DigestOf(settings any) (Digest, error) {
	text, err := json.Marshal(settings)
	if err != nil {
		return Digest{}, fmt.Errorf("encode the settings: %w", err)
	}
	return sha256.Sum256(text), nil
}

// Taken remembers which settings of resources the service took last: a process that knows nothing sends them once more. The zero value is
// ready, and safe for concurrent use.
type Taken struct {
	mu   sync.Mutex
	last map[types.UID]Digest
}

// Has reports whether the settings are the last that were taken.
func (t *Taken) Has(id types.UID, d Digest) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, known := t.last[id]
	return known && found == d
}

// Set remembers settings.
func (t *Taken) Set(id types.UID, d Digest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = map[types.UID]Digest{}
	}
	t.last[id] = d
}

// Forget removes a resource that is gone.
func (t *Taken) Forget(id types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.last, id)
}
