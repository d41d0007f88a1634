package ignition

import (
	"bytes"
	"compress/gzip"
	"fmt"

	"github.com/cavaliergopher/cpio"
)

// EmbedArea is the room for a packed config in an image, in bytes, unless the image says
// otherwise (contract/image-service.md, 4.3).
const EmbedArea = 256 << 10

// Pack is a config as an image holds it: config.ign in a gzip'ed cpio archive (newc).
func Pack(config []byte) ([]byte, error) {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	archive := cpio.NewWriter(packed)
	err := archive.WriteHeader(&cpio.Header{Name: "config.ign", Mode: cpio.TypeReg | 0o644, Size: int64(len(config)), Links: 1})
	if err == nil {
		_, err = archive.Write(config)
	}
	if err == nil {
		err = archive.Close()
	}
	if err == nil {
		err = packed.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("pack a config: %w", err)
	}
	return out.Bytes(), nil
}
