package oci

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"
)

// Mirrors are addresses of Debian's archives, in the order in which they are asked: {archive}, {path} and {time} are replaced. A mirror
// drops a version when there is a newer one; snapshot.debian.org keeps all.
var Mirrors = []string{
	"http://deb.debian.org/{archive}/{path}",
	"http://snapshot.debian.org/archive/{archive}/{time}/{path}",
}

// Cache keeps packages in a folder, by their hashes.
type Cache struct {
	Folder  string
	Mirrors []string
	Client  *http.Client
}

// errOther is the error of an answer that is not the locked package.
var errOther = errors.New("require the SHA-256 of packages.lock, found another")

// get returns the path of a package, which it downloads where the folder does not have it.
func (c *Cache) get(ctx context.Context, p Package, at time.Time) (string, error) {
	file := filepath.Join(c.Folder, p.SHA256)
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	if err := os.MkdirAll(c.Folder, 0o755); err != nil {
		return "", fmt.Errorf("keep packages: %w", err)
	}
	var failed []error
	for _, mirror := range c.Mirrors {
		address := strings.NewReplacer("{archive}", p.Archive, "{path}", p.Path, "{time}", at.Format(timeLayout)).Replace(mirror)
		err := c.download(ctx, address, file, p.SHA256)
		if err == nil {
			return file, nil
		}
		failed = append(failed, err)
	}
	return "", fmt.Errorf("fetch package %s %s: %w; where no mirror has the version any more, make images-lock takes the current ones",
		p.Name, p.Version, errors.Join(failed...))
}

func (c *Cache) download(ctx context.Context, address, file, sum string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := c.Client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, response.Status)
	}
	part, err := renameio.NewPendingFile(file)
	if err != nil {
		return err
	}
	defer func() { _ = part.Cleanup() }()
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(part, hash), response.Body); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	if hex.EncodeToString(hash.Sum(nil)) != sum {
		return fmt.Errorf("%s: %w", address, errOther)
	}
	return part.CloseAtomicallyReplace()
}
