package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"slipway/internal/platform/hostexec"
)

// imageParts are the files of the discovery image in the boot partition.
var imageParts = []string{"vmlinuz", "initrd"}

// placeImage moves the fetched image to the boot partition, which is small: an equal image stays, an older one makes room when both do
// not fit, and then the operating system that the host would roll back to. An image that cannot be placed leaves the older one.
func (a *Agent) placeImage(ctx context.Context) error {
	fetched, err := a.sizes(stagingDir)
	if err != nil {
		return err
	}
	equal, err := a.sameImage(fetched)
	if err != nil || equal {
		return err
	}
	older, err := a.sizes(discoveryDir)
	if err != nil {
		return err
	}
	free, err := a.freeForImage(ctx, total(fetched), total(older))
	if err != nil {
		return err
	}
	// Until the image is whole the machine must start what it has.
	if err := a.removeFile(discoveryEntry); err != nil {
		return err
	}
	if free < total(fetched) {
		for _, name := range imageParts {
			if err := a.removeFile(path.Join(discoveryDir, name)); err != nil {
				return err
			}
		}
	}
	for _, name := range imageParts {
		if err := a.copyPart(path.Join(stagingDir, name), path.Join(discoveryDir, name)); err != nil {
			return err
		}
	}
	return nil
}

// freeForImage returns how many bytes are free in the boot partition, after a cleanup if there are too few. It returns an error when
// the image has no room even in place of the older one.
func (a *Agent) freeForImage(ctx context.Context, needed, older int64) (free int64, err error) {
	if free, err = a.free(bootDir); err != nil || free+older >= needed {
		return free, err
	}
	if err := a.cleanup(ctx); err != nil {
		return 0, fmt.Errorf("make room in %s: %w", bootDir, err)
	}
	if free, err = a.free(bootDir); err != nil || free+older >= needed {
		return free, err
	}
	return 0, fmt.Errorf("require %s free in %s for the discovery image, found %s", mebibytes(needed), bootDir, mebibytes(free+older))
}

// cleanup removes the operating system that the host would roll back to. Its daemon refuses while it does something else, such as an
// update that the cluster wants.
func (a *Agent) cleanup(ctx context.Context) (err error) {
	command := hostexec.Cmd{Name: "rpm-ostree", Args: []string{"cleanup", "--os=rhcos", "-r"}}
	for try := range cleanupTries {
		if try > 0 {
			if err := a.host.Sleep(ctx, cleanupPause); err != nil {
				return err
			}
		}
		if _, err = a.host.Runner.Run(ctx, command); err == nil || hostexec.Missing(err) || ctx.Err() != nil {
			return err
		}
		a.log.Warn("earlier operating system not removed", "try", try+1, "error", err)
	}
	return err
}

// free returns how many bytes are free in the file system of a path.
func (a *Agent) free(path string) (int64, error) {
	if a.host.Free != nil {
		return a.host.Free(path)
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(a.host.Root.Path(path), &stat); err != nil {
		return 0, fmt.Errorf("look how much of %s is free: %w", path, err)
	}
	return int64(stat.Bavail * uint64(stat.Bsize)), nil //nolint:gosec // an architecture has its own type of sizes
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

func total(sizes map[string]int64) (sum int64) {
	for _, size := range sizes {
		sum += size
	}
	return sum
}

// sizes reads the sizes of the parts of an image in a folder; missing parts are left out.
func (a *Agent) sizes(folder string) (map[string]int64, error) {
	found := map[string]int64{}
	for _, name := range imageParts {
		info, err := os.Stat(a.host.Root.Path(path.Join(folder, name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("look at the discovery image: %w", err)
		default:
			found[name] = info.Size()
		}
	}
	return found, nil
}

// sameImage reports whether the boot partition has an equal image.
func (a *Agent) sameImage(fetched map[string]int64) (bool, error) {
	placed, err := a.sizes(discoveryDir)
	if err != nil {
		return false, err
	}
	for _, name := range imageParts {
		if size, found := placed[name]; !found || size != fetched[name] {
			return false, nil
		}
	}
	for _, name := range imageParts {
		equal, err := sameContent(a.host.Root.Path(path.Join(stagingDir, name)), a.host.Root.Path(path.Join(discoveryDir, name)))
		if err != nil || !equal {
			return false, err
		}
	}
	return true, nil
}

// sameContent reports whether two files of one size are equal.
func sameContent(one, other string) (bool, error) {
	x, err := os.Open(one)
	if err != nil {
		return false, fmt.Errorf("compare with the earlier image: %w", err)
	}
	defer func() { _ = x.Close() }()
	y, err := os.Open(other)
	if err != nil {
		return false, fmt.Errorf("compare with the earlier image: %w", err)
	}
	defer func() { _ = y.Close() }()
	b, c := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(x, b)
		m, err2 := io.ReadFull(y, c)
		switch {
		case !bytes.Equal(b[:n], c[:m]):
			return false, nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return true, nil
		case err != nil || err2 != nil:
			return false, fmt.Errorf("compare with the earlier image: %w", errors.Join(err, err2))
		}
	}
}

// copyPart copies a file, which is whole once it has its name.
func (a *Agent) copyPart(from, to string) error {
	source, err := os.Open(a.host.Root.Path(from))
	if err != nil {
		return fmt.Errorf("read the fetched image: %w", err)
	}
	defer func() { _ = source.Close() }()
	return writePart(source, a.host.Root.Path(to))
}

// writePart writes a file beside its place, and moves it there once it is whole.
func writePart(content io.Reader, to string) error {
	part, err := os.Create(to + ".part")
	if err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	defer os.Remove(part.Name()) //nolint:errcheck // gone once it has its name
	_, err = io.Copy(part, content)
	if err := errors.Join(err, part.Sync(), part.Close()); err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	return os.Rename(part.Name(), to)
}

func (a *Agent) removeFile(file string) error {
	if err := os.Remove(a.host.Root.Path(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the earlier image: %w", err)
	}
	return nil
}
