package histories

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
)

// packed is how the name of a compressed file ends, see gzip(1).
const packed = ".gz"

// Read returns the content of a file, unpacked where its name says that it is packed.
func Read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, packed) {
		return data, err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	if data, err = io.ReadAll(unpacked); err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	return data, nil
}

func pack(to io.Writer, data []byte) error {
	w, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Close()
}
