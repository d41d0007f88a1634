package discovery

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"slices"
	"sync"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// listening are the statuses in which the inventory of a host counts, and says no more than that the host is there.
var listening = slices.DeleteFunc(slices.Clone(lifecycle.InDiscovery), lifecycle.Disconnected.Has)

// digest identifies an inventory that was read: hosts send the same one again and again. It is empty for other replies, which are read
// each time.
func (s *Service) digest(r wire.StepReply) string {
	if r.StepType != wire.StepTypeInventory || r.ExitCode != 0 {
		return ""
	}
	sum := sha256.New()
	_, _ = io.WriteString(sum, s.salt)
	_, _ = io.WriteString(sum, r.Output)
	return base64.RawStdEncoding.EncodeToString(sum.Sum(nil))
}

// keepDigest notes which reply the fact of a host comes from.
func keepDigest(h *model.Host, fact model.Fact, digest string) {
	if record, asked := h.Facts[fact]; asked {
		record.Digest = digest
		h.Facts[fact] = record
	}
}

// mostDigests is how many hosts digests has room for, some 15 MB.
const mostDigests = 100_000

// digests has the digest of the reply that this process read last of each host: the database is asked about equal ones only.
type digests struct {
	mu sync.Mutex
	of map[sender]string
}

func (d *digests) has(from sender, digest string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.of[from] == digest
}

func (d *digests) keep(from sender, digest string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of == nil || len(d.of) >= mostDigests {
		d.of = map[sender]string{}
	}
	d.of[from] = digest
}
