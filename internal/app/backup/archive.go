// Package backup copies everything that a service keeps into one encrypted archive while it runs, and restores it on an empty
// machine.
//
// An archive is a tar file, encrypted as age does (age-encryption.org/v1), with these members in this order:
//
//	backup.json      which program made it, and when
//	database.dump    of pg_dump, in its custom format
//	files/NAME       keys, token.key, tls/..., and settings.yaml
//	blobs/KEY        objects, as they are stored: sealed
//	digests.json     SHA-256 of each member before, in hexadecimal; an archive without it is not complete
//
// The files are copied after the database, so that a row never names an object that is missing.
package backup

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
)

const (
	aboutName  = "backup.json"
	dumpName   = "database.dump"
	filePrefix = "files/"
	blobPrefix = "blobs/"
	lastName   = "digests.json"
	// format is the version of the layout above.
	format = 1
	// mostText bounds the members that are read as a whole.
	mostText = 64 << 20
)

// About says what an archive is.
type About struct {
	Format  int       `json:"format"`
	Version string    `json:"version"` // of the program that made it
	MadeAt  time.Time `json:"made_at"`
}

// archive writes members and remembers their digests.
type archive struct {
	tar     *tar.Writer
	sealed  io.WriteCloser
	now     time.Time
	digests map[string]string
}

func newArchive(w io.Writer, now time.Time, recipients []age.Recipient) (*archive, error) {
	sealed, err := age.Encrypt(w, recipients...)
	if err != nil {
		return nil, fmt.Errorf("encrypt the backup: %w", err)
	}
	return &archive{tar: tar.NewWriter(sealed), sealed: sealed, now: now, digests: map[string]string{}}, nil
}

// add writes a member of a known size.
func (a *archive) add(name string, size int64, r io.Reader) error {
	header := &tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: a.now, Format: tar.FormatPAX}
	if err := a.tar.WriteHeader(header); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	digest := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(a.tar, digest), r, size); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	a.digests[name] = hex.EncodeToString(digest.Sum(nil))
	return nil
}

func (a *archive) addJSON(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return a.add(name, int64(len(text)), strings.NewReader(string(text)))
}

// close writes the digests and ends the archive.
func (a *archive) close() error {
	return errors.Join(a.addJSON(lastName, a.digests), a.tar.Close(), a.sealed.Close())
}

// ErrIncomplete is returned for an archive that ends too early, or whose members differ from its digests.
var ErrIncomplete = errors.New("the backup is not complete")

// Read passes the members of an archive to a visitor, in their order. It returns an error after the last one when they are not what was
// written. A wrong passphrase or identity is age's error.
func Read(r io.Reader, identities []age.Identity, visit func(name string, r io.Reader) error) (About, error) {
	var about About
	opened, err := age.Decrypt(r, identities...)
	if err != nil {
		return about, fmt.Errorf("decrypt the backup: %w", err)
	}
	members, digests := tar.NewReader(opened), map[string]string{}
	for {
		header, err := members.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return about, fmt.Errorf("%w: it ends before its last member", ErrIncomplete)
		}
		if err != nil {
			return about, fmt.Errorf("read the backup: %w", err)
		}
		if header.Name == lastName {
			return about, compare(members, digests)
		}
		digest := sha256.New()
		member := io.TeeReader(members, digest)
		if header.Name == aboutName {
			err = about.read(member)
		} else {
			err = visit(header.Name, member)
		}
		if err == nil {
			_, err = io.Copy(io.Discard, member)
		}
		if err != nil {
			return about, fmt.Errorf("read %s of the backup: %w", header.Name, err)
		}
		digests[header.Name] = hex.EncodeToString(digest.Sum(nil))
	}
}

func (a *About) read(r io.Reader) error {
	if err := json.NewDecoder(io.LimitReader(r, mostText)).Decode(a); err != nil {
		return err
	}
	if a.Format != format {
		return fmt.Errorf("require format %d, found %d: use slipway %s", format, a.Format, a.Version)
	}
	return nil
}

func compare(r io.Reader, found map[string]string) error {
	written := map[string]string{}
	if err := json.NewDecoder(io.LimitReader(r, mostText)).Decode(&written); err != nil {
		return fmt.Errorf("%w: read its digests: %w", ErrIncomplete, err)
	}
	for _, name := range slices.Sorted(maps.Keys(written)) {
		if found[name] != written[name] {
			return fmt.Errorf("%w: %s is missing or differs from what was written", ErrIncomplete, name)
		}
	}
	return nil
}
