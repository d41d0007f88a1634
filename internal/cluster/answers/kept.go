package answers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/s2"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// KeptForm is the form of kept texts. A text of another form is not read: raise it with each change of what a host looks like
// (TestKeptTextsKeepTheirForm).
const KeptForm = 1

// keptHost is a host without what changes while its row does not, and without what is sealed.
type keptHost struct {
	wire.Host
	CheckedInAt    *struct{} `json:"checked_in_at,omitempty"`
	ProgressStages *struct{} `json:"progress_stages,omitempty"`
}

// hostMoment is the rest of a host.
type hostMoment struct {
	CheckedInAt             wire.DateTime    `json:"checked_in_at"`
	Timestamp               int64            `json:"timestamp,omitempty"`
	ProgressStages          []wire.HostStage `json:"progress_stages"`
	FencingCredentials      string           `json:"fencing_credentials,omitempty"`
	IgnitionConfigOverrides string           `json:"ignition_config_overrides,omitempty"`
	InstallerArgs           string           `json:"installer_args,omitempty"`
}

// KeepHost renders a host for AppendHost, compressed (S2): the fields of the JSON object without its braces and without the inventory,
// and the field of the inventory, empty without one. Nothing sealed is in them.
func KeepHost(h *model.Host) (kept, inventory []byte) {
	shown := keptHost{Host: Host(h, HostView{Inventory: true})}
	shown.Timestamp, shown.InstallerArgs = 0, ""
	if shown.Inventory != "" {
		inventory = packed(append([]byte(`,"inventory":`), wire.Bytes(shown.Inventory)...))
	}
	shown.Inventory = ""
	return packed(fields(shown)), inventory
}

// fields encodes an object without its braces.
func fields(object any) []byte {
	text := wire.Bytes(object)
	return text[1 : len(text)-1]
}

// packRoom has buffers that texts are compressed in, several times as large as what comes out.
var packRoom = sync.Pool{New: func() any { return new([]byte) }}

// packed compresses a text (S2).
func packed(text []byte) []byte {
	room := packRoom.Get().(*[]byte)
	defer packRoom.Put(room)
	*room = slices.Grow((*room)[:0], s2.MaxEncodedLen(len(text)))
	return bytes.Clone(s2.EncodeBetter((*room)[:cap(*room)], text))
}

var errKept = errors.New("the kept text is damaged")

// appendUnpacked appends what KeepHost and KeepCluster compress.
func appendUnpacked(to, packed []byte) ([]byte, error) {
	size, err := s2.DecodedLen(packed)
	if err != nil {
		return nil, errors.Join(errKept, err)
	}
	to = slices.Grow(to, size)
	if _, err := s2.Decode(to[len(to):len(to)+size], packed); err != nil {
		return nil, errors.Join(errKept, err)
	}
	return to[:len(to)+size], nil
}

// AppendHost appends the JSON of a host. kept and inventory are made by KeepHost; h needs no more than its columns and secrets beside
// them. Without a kept text all of h is rendered.
func AppendHost(to []byte, h *model.Host, kept, inventory []byte, view HostView) ([]byte, error) {
	if len(kept) == 0 {
		text, err := json.Marshal(Host(h, view))
		return append(to, text...), err
	}
	to = append(append(to, '{'), fields(momentOf(h, view))...)
	if view.Connectivity && h.Connectivity != nil {
		to = appendConnectivity(append(to, `,"connectivity":`...), h.Connectivity)
	}
	to, err := appendUnpacked(append(to, ','), kept)
	if err == nil && view.Inventory && len(inventory) > 0 {
		to, err = appendUnpacked(to, inventory)
	}
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", h.ID, err)
	}
	return append(to, '}'), nil
}

func momentOf(h *model.Host, view HostView) hostMoment {
	var sealed wire.Host
	addHostSecrets(&sealed, h, view)
	return hostMoment{
		CheckedInAt: wire.DateTime(h.CheckedInAt), Timestamp: h.Timestamp, ProgressStages: progressStages(h, view),
		FencingCredentials: sealed.FencingCredentials, IgnitionConfigOverrides: sealed.IgnitionConfigOverrides,
		InstallerArgs: sealed.InstallerArgs,
	}
}
