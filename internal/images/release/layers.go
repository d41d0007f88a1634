package release

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// maxLayer bounds one unpacked layer, in bytes, and maxLinks the links followed to a file.
const (
	maxLayer = 16 << 30
	maxLinks = 5
)

// errNoFile: no layer of an image holds the file.
var errNoFile = errors.New("no such file in the image")

// findFile calls take with the file at name, a path without a leading slash, as a container of the image would
// see it: the last layer that has it decides. take may get data that turns out to be damaged; then findFile
// returns an error afterwards.
func findFile(image v1.Image, name string, take func(*tar.Header, io.Reader) error) error {
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	for range maxLinks {
		target := ""
		for _, layer := range slices.Backward(layers) {
			found, link, err := searchLayer(layer, name, take)
			if err != nil {
				return err
			}
			if found && link == "" {
				return nil
			}
			if found {
				target = link
				break
			}
		}
		if target == "" {
			return fmt.Errorf("%s: %w", name, errNoFile)
		}
		name = target
	}
	return fmt.Errorf("%s: too many links", name)
}

// searchLayer looks for a file in one layer, and returns where it leads if it is a link.
// It reads a layer with the file to its end: only there its digest can be checked.
func searchLayer(layer v1.Layer, name string, take func(*tar.Header, io.Reader) error) (found bool, link string, err error) {
	unpacked, err := layer.Uncompressed()
	if err != nil {
		return false, "", err
	}
	defer func() { _ = unpacked.Close() }()
	limited := io.LimitReader(unpacked, maxLayer)
	archive := tar.NewReader(limited)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return false, "", nil
		}
		if err != nil {
			return false, "", fmt.Errorf("unpack layer: %w", err)
		}
		switch clean(h.Name) {
		case name:
		case path.Join(path.Dir(name), ".wh."+path.Base(name)):
			return false, "", fmt.Errorf("%s: %w: a layer removes it", name, errNoFile)
		default:
			continue
		}
		switch h.Typeflag {
		case tar.TypeReg:
			if err := take(h, archive); err != nil {
				return false, "", err
			}
			if _, err := io.Copy(io.Discard, limited); err != nil {
				return false, "", fmt.Errorf("unpack layer: %w", err)
			}
			return true, "", nil
		case tar.TypeLink:
			return true, clean(h.Linkname), nil
		case tar.TypeSymlink:
			return true, resolve(name, h.Linkname), nil
		}
		return false, "", fmt.Errorf("%s: require a file, found type %q", name, h.Typeflag)
	}
}

func clean(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// resolve returns the target of a symbolic link.
func resolve(name, target string) string {
	if path.IsAbs(target) {
		return clean(target)
	}
	return clean(path.Join(path.Dir(name), target))
}
