package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"filippo.io/age"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"slipway/internal/version"
)

// Place is a service on a machine.
type Place struct {
	// DataDir is its folder; KeyFile the file with the keys of its secrets, there or elsewhere.
	DataDir, KeyFile string
	// Settings is its settings file; empty: none.
	Settings string
	// DatabaseURL is a database that answers.
	DatabaseURL string
	// PGDump and PGRestore are the programs of PostgreSQL.
	PGDump, PGRestore string
	Blobs             *blob.Bucket
	Now               func() time.Time
}

// Summary says what was written.
type Summary struct {
	Files, Blobs int
	Bytes        int64 // of all members, before encryption
}

// ownFiles lists the files of the data folder that belong to the database. One that is missing is given by settings.
var ownFiles = []string{"token.key", "tls/ca.pem", "tls/ca.key", "tls/server.pem", "tls/server.key"}

// Write writes an archive of a place.
func Write(ctx context.Context, w io.Writer, recipients []age.Recipient, p Place) (Summary, error) {
	var s Summary
	dump, err := p.dump(ctx)
	if err != nil {
		return s, err
	}
	defer dump.Close()
	a, err := newArchive(w, p.Now(), recipients)
	if err != nil {
		return s, err
	}
	about := About{Format: format, Version: version.Read().BuildID(), MadeAt: p.Now().UTC()}
	if err := a.addJSON(aboutName, about); err != nil {
		return s, err
	}
	if err := s.addFile(a, dumpName, dump); err != nil {
		return s, err
	}
	if err := p.files(a, &s); err != nil {
		return s, err
	}
	if err := p.blobs(ctx, a, &s); err != nil {
		return s, err
	}
	return s, a.close()
}

// dump asks pg_dump for the database, whose schemas it reads in one snapshot. The file has no name any more.
func (p Place) dump(ctx context.Context) (*os.File, error) {
	file, err := os.CreateTemp(p.DataDir, ".backup-*")
	if err != nil {
		return nil, fmt.Errorf("dump the database: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("dump the database: %w", err), file.Close())
	}
	var complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, p.PGDump, "--format=custom", "--no-owner", "--dbname="+p.DatabaseURL)
	cmd.Stdout, cmd.Stderr = file, &complaints
	if err := cmd.Run(); err != nil {
		return nil, errors.Join(fmt.Errorf("dump the database: %w: %s", err, bytes.TrimSpace(complaints.Bytes())), file.Close())
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(fmt.Errorf("dump the database: %w", err), file.Close())
	}
	return file, nil
}

// files adds what the database does not have.
func (p Place) files(a *archive, s *Summary) error {
	if err := s.addPath(a, filePrefix+"keys", p.KeyFile); err != nil {
		return err // without it no secret can be opened
	}
	for _, name := range ownFiles {
		err := s.addPath(a, filePrefix+name, filepath.Join(p.DataDir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if p.Settings == "" {
		return nil
	}
	return s.addPath(a, filePrefix+"settings.yaml", p.Settings)
}

func (s *Summary) addPath(a *archive, name, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read what is backed up: %w", err)
	}
	defer file.Close()
	return s.addFile(a, name, file)
}

func (s *Summary) addFile(a *archive, name string, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read what is backed up: %w", err)
	}
	s.Files, s.Bytes = s.Files+1, s.Bytes+info.Size()
	return a.add(name, info.Size(), file)
}

// blobs adds all objects. One that is deleted meanwhile belongs to a cluster that was being purged.
func (p Place) blobs(ctx context.Context, a *archive, s *Summary) error {
	for list := p.Blobs.List(nil); ; {
		object, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list objects: %w", err)
		}
		reader, err := p.Blobs.NewReader(ctx, object.Key, nil)
		if gcerrors.Code(err) == gcerrors.NotFound {
			continue
		}
		if err != nil {
			return fmt.Errorf("read object %s: %w", object.Key, err)
		}
		s.Blobs, s.Bytes = s.Blobs+1, s.Bytes+reader.Size()
		err = errors.Join(a.add(blobPrefix+object.Key, reader.Size(), reader), reader.Close())
		if err != nil {
			return fmt.Errorf("copy object %s: %w", object.Key, err)
		}
	}
}
