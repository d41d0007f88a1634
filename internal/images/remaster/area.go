package remaster

import (
	"encoding/json"
	"fmt"
	"io"

	"slipway/internal/images/remaster/iso9660"
	"slipway/internal/model"
)

const (
	ignitionInfoPath    = "coreos/igninfo.json"
	defaultIgnitionPath = "images/ignition.img"
)

// area is a range of a file of the image, in bytes, that is overwritten.
type area struct {
	path           string
	offset, length int64
}

// ignitionInfo is an image's description of its area for a config.
type ignitionInfo struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
}

// ignitionArea finds the area for a config. Without offset and length it is a whole file.
func (b *Base) ignitionArea(image io.ReaderAt) (area, error) {
	text, err := b.text(image, ignitionInfoPath)
	if err != nil {
		return area{}, err
	}
	info := ignitionInfo{File: defaultIgnitionPath}
	if text != nil {
		info.File = ""
		if err := json.Unmarshal(text, &info); err != nil {
			return area{}, fmt.Errorf("read %s: %w", ignitionInfoPath, err)
		}
	}
	f, ok := b.first(info.File)
	if !ok {
		return area{}, fmt.Errorf("find the area for an Ignition config: the image has no file %q", info.File)
	}
	a := area{path: info.File, offset: info.Offset, length: info.Length}
	if a.offset == 0 && a.length == 0 {
		a.length = f.Size()
	}
	if !a.within(f) {
		return area{}, fmt.Errorf(
			"find the area for an Ignition config: require a range of the %d bytes of %s in one piece, found %d bytes at %d",
			f.Size(),
			a.path,
			a.length,
			a.offset,
		)
	}
	return a, nil
}

// within reports whether an area is a non-empty range of a file that is in one piece.
func (a area) within(f iso9660.File) bool {
	return len(f.Extents) == 1 && a.offset >= 0 && a.length > 0 && a.length <= f.Size() && a.offset <= f.Size()-a.length
}

// IgnitionRoom returns how many bytes a packed config may have.
func (b *Base) IgnitionRoom() int64 { return b.ignition.length }

// fill puts content into an area, and zeros after it. Areas are in files of one piece.
func (b *Base) fill(a area, content []byte) edit {
	f, _ := b.first(a.path)
	return edit{offset: f.Extents[0].Offset + a.offset, length: a.length, data: content}
}

// embedIgnition fills the area with a config, or leaves it unchanged without one.
func (b *Base) embedIgnition(config []byte) ([]edit, error) {
	if len(config) == 0 {
		return nil, nil
	}
	packed, err := IgnitionArchive(config)
	if err != nil {
		return nil, err
	}
	if int64(len(packed)) > b.ignition.length {
		return nil, model.Conflictf(
			"discovery config does not fit into the image: require at most %d bytes packed, found %d (%d unpacked); "+
				"shorten the Ignition config override, the static network configuration, the trust bundle or the proxy's exceptions, or "+
				"boot over the network, where there is no limit",
			b.ignition.length,
			len(packed),
			len(config),
		)
	}
	return []edit{b.fill(b.ignition, packed)}, nil
}
