package answers

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

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

// KeepHost renders a host for AppendHost: the length of what precedes the inventory as a varint, and, compressed (S2), the fields of the
// JSON object without its braces, the inventory last. Nothing sealed is in it.
func KeepHost(h *model.Host) []byte {
	shown := keptHost{Host: Host(h, HostView{Inventory: true})}
	shown.Timestamp, shown.InstallerArgs = 0, ""
	inventory := shown.Inventory
	shown.Inventory = ""
	text := fields(shown)
	kept := binary.AppendUvarint(nil, uint64(len(text)))
	if inventory != "" {
		text = append(append(text, `,"inventory":`...), wire.Text(inventory)...)
	}
	return append(kept, s2.EncodeBetter(nil, text)...)
}

// fields encodes an object without its braces.
func fields(object any) []byte {
	text := []byte(wire.Text(object))
	return text[1 : len(text)-1]
}

// Texts appends hosts to texts. It reuses memory: goroutines must not share a Texts.
type Texts struct{ plain []byte }

var errKept = errors.New("the kept text is damaged")

// unpack returns what KeepHost and KeepCluster compress, valid until the next call.
func (t *Texts) unpack(packed []byte) ([]byte, error) {
	text, err := s2.Decode(t.plain[:cap(t.plain)], packed)
	if err != nil {
		return nil, errors.Join(errKept, err)
	}
	t.plain = text
	return text, nil
}

// AppendHost appends the JSON of a host. kept is its text, made by KeepHost; h needs no more than its columns and secrets beside it. An
// empty text renders all of h.
func (t *Texts) AppendHost(to []byte, h *model.Host, kept []byte, view HostView) ([]byte, error) {
	if len(kept) == 0 {
		text, err := json.Marshal(Host(h, view))
		return append(to, text...), err
	}
	before, size := binary.Uvarint(kept)
	text, err := t.unpack(kept[max(0, size):])
	if err == nil && (size <= 0 || before > uint64(len(text))) {
		err = errKept
	}
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", h.ID, err)
	}
	if !view.Inventory {
		text = text[:before]
	}
	to = append(append(to, '{'), fields(momentOf(h, view))...)
	if view.Connectivity && h.Connectivity != nil {
		to = appendConnectivity(append(to, `,"connectivity":`...), h.Connectivity)
	}
	to = append(append(to, ','), text...)
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
