package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"
	"github.com/jackc/pgx/v5"

	"slipway/internal/platform/store"
)

// Unfinished is a file in the data folder while a restore is under way. A service refuses to start beside it.
const Unfinished = "restore-unfinished"

// restoredSettings is where the settings file of a backup is put, in the data folder: it is for people to compare.
const restoredSettings = "settings-of-backup.yaml"

// Restore puts an archive into an empty place: its database exists, and has no schema slipway. Nothing is in the database unless all
// of the archive could be read.
func Restore(ctx context.Context, r io.Reader, identities []age.Identity, p Place) (About, error) {
	if err := p.emptyDatabase(ctx); err != nil {
		return About{}, err
	}
	dump, err := os.CreateTemp(p.DataDir, ".restore-*")
	if err != nil {
		return About{}, fmt.Errorf("restore: %w", err)
	}
	defer func() { _, _ = dump.Close(), os.Remove(dump.Name()) }()
	about, err := Read(r, identities, func(name string, r io.Reader) error {
		switch {
		case name == dumpName:
			_, err := io.Copy(dump, r)
			return err
		case strings.HasPrefix(name, filePrefix):
			return p.file(strings.TrimPrefix(name, filePrefix), r)
		case strings.HasPrefix(name, blobPrefix):
			return p.blob(ctx, strings.TrimPrefix(name, blobPrefix), r)
		}
		return nil // of a later version of this format
	})
	if err != nil {
		return about, err
	}
	return about, p.load(ctx, dump.Name())
}

func (p Place) emptyDatabase(ctx context.Context) error {
	c, err := pgx.Connect(ctx, p.DatabaseURL)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	var used bool
	err = c.QueryRow(ctx, `select exists (
		select 1 from pg_namespace where nspname in ('slipway', 'temporal', 'temporal_visibility'))`).Scan(&used)
	if err != nil {
		return fmt.Errorf("look into the database: %w", err)
	}
	if used {
		return errors.New("require an empty database, found schemas of a service: a restore replaces nothing")
	}
	return nil
}

// file writes a file of the data folder.
func (p Place) file(name string, r io.Reader) error {
	path := filepath.Join(p.DataDir, filepath.FromSlash(name))
	switch {
	case name == "keys":
		path = p.KeyFile
	case name == "settings.yaml":
		path = filepath.Join(p.DataDir, restoredSettings)
	case !slices.Contains(ownFiles, name):
		return nil // of a later version of this format
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, r)
	return errors.Join(err, file.Sync(), file.Close())
}

func (p Place) blob(ctx context.Context, key string, r io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := p.Blobs.NewWriter(ctx, key, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		cancel() // which discards what was written
		return errors.Join(err, w.Close())
	}
	return w.Close()
}

// load fills the database, all of it or nothing.
func (p Place) load(ctx context.Context, dump string) error {
	var complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, p.PGRestore, "--single-transaction", "--no-owner", "--exit-on-error", "--dbname="+p.DatabaseURL, dump)
	cmd.Stderr = &complaints
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("fill the database: %w: %s", err, bytes.TrimSpace(complaints.Bytes()))
	}
	return store.RenewFeed(ctx, p.DatabaseURL)
}
