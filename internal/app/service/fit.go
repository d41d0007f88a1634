package service

import (
	"context"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/certificates"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
)

// Names under which the database records the fingerprints of files. They are part of the messages.
const (
	tokenKeyIdentity  = "token key"
	authorityIdentity = "authority"
)

// fileOfDatabase is a file whose content must fit the database.
type fileOfDatabase struct {
	name, path, fingerprint string
	// created holds the files that this start made because path was missing.
	created []string
	// loss says what no longer works with other content.
	loss string
}

// openKeys reads the keys that encrypt secrets and refuses keys that cannot open what the database holds. Only a database without
// encrypted values gets a new key file. Processes that start at once do this one after the other.
func (s *Service) openKeys(ctx context.Context) error {
	db, err := store.Open(ctx, store.Options{URL: s.DatabaseURL, Now: s.process.Now, MaxConns: 2})
	if err != nil {
		return err
	}
	defer db.Close()
	unlock, err := db.LockObject(ctx, "key file")
	if err != nil {
		return err
	}
	defer unlock()
	file, err := s.options.MasterKeys(ctx, s.options.DataDir, s.process.Env)
	if err != nil {
		return err
	}
	uses, err := db.KeyUses(ctx)
	if err != nil {
		return fmt.Errorf("read the keys that this database was used with: %w", err)
	}
	sealed, err := db.SealedValues(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Stat(file.Path); errors.Is(err, fs.ErrNotExist) && len(uses)+len(sealed) > 0 {
		return fmt.Errorf("key file %s is missing: this database holds secrets that only its keys open: restore the file from the backup",
			file.Path)
	}
	keys, err := file.LoadOrCreate()
	if err != nil {
		return err
	}
	if err := fits(keys, uses); err != nil && !s.options.ReplaceIdentity {
		return fmt.Errorf("key file %s does not fit this database: %w: restore the file from the backup", file.Path, err)
	}
	switch err := db.Readable(ctx, keys); {
	case errors.Is(err, store.ErrUnreadable):
		return fmt.Errorf("key file %s does not fit this database: %w: found the keys %s: restore the file from the backup", file.Path, err,
			names(keys.Held()))
	case err != nil:
		return err
	}
	if len(uses) == 0 {
		if _, err := db.UseKey(ctx, keys.Held()[0].ID()); err != nil {
			return fmt.Errorf("record the use of the key: %w", err)
		}
	}
	s.sealer = keys
	if file.Service != nil && !keys.Sealed() {
		s.logger.Warn("the key file is in clear, although a key service is given: slipway keys seal", "file", file.Path)
	}
	s.checks = append(s.checks, process.Check{Name: "keys", Ask: func(ctx context.Context) error {
		uses, err := s.store.KeyUses(ctx)
		if err != nil {
			return err
		}
		if err := fits(keys, uses); err != nil && !s.options.ReplaceIdentity {
			return fmt.Errorf("key file %s: %w", file.Path, err)
		}
		return nil
	}})
	return nil
}

// fits returns an error when keys lack the key that was put into use last. The oldest use comes first.
func fits(keys *encryption.Keys, uses []store.KeyUse) error {
	if len(uses) == 0 {
		return nil
	}
	last := uses[len(uses)-1]
	if slices.ContainsFunc(keys.Held(), func(k encryption.Key) bool { return k.ID() == last.ID }) {
		return nil
	}
	return fmt.Errorf("require key %s, in use since %s, found %s", last.ID, last.UsedSince.Format("2006-01-02 15:04"), names(keys.Held()))
}

func names(keys []encryption.Key) string {
	text := ""
	for n, k := range keys {
		if n > 0 {
			text += ", "
		}
		text += k.ID()
	}
	return text
}

// checkIdentity refuses another token key or authority than the database was used with.
func (s *Service) checkIdentity(ctx context.Context) error {
	for _, f := range []fileOfDatabase{s.tokenKey, s.authority} {
		if f.path == "" {
			continue
		}
		recorded, err := s.store.Identity(ctx, f.name, f.fingerprint)
		if err != nil {
			return err
		}
		if recorded == "" || recorded == f.fingerprint {
			continue
		}
		if s.options.ReplaceIdentity && f.fingerprint != "" {
			if err := s.store.ReplaceIdentity(ctx, f.name, f.fingerprint); err != nil {
				return fmt.Errorf("record the %s: %w", f.name, err)
			}
			s.logger.WarnContext(ctx, "identity replaced", "what", f.name, "file", f.path, "before", recorded, "now", f.fingerprint)
			continue
		}
		return f.refuse(recorded)
	}
	return nil
}

// refuse removes what this start created, so that the next start finds the same state, and names the file.
func (f fileOfDatabase) refuse(recorded string) error {
	advice := "restore it from the backup, or start with --replace-identity: " + f.loss
	if f.fingerprint != "" && len(f.created) == 0 {
		return fmt.Errorf("%s does not fit this database: require the %s with fingerprint %s, found %s: %s",
			f.path, f.name, recorded, f.fingerprint, advice)
	}
	err := fmt.Errorf("%s is missing: this database was used with the %s of fingerprint %s: %s", f.path, f.name, recorded, advice)
	for _, path := range f.created {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// ownKeys reads the key pair of tokens, and notes whether it is the data folder's.
func (s *Service) ownKeys(given settings.Keys) (settings.Keys, error) {
	path := filepath.Join(s.options.DataDir, auth.KeyFile)
	_, missing := os.Stat(path)
	keys, err := OwnKeys(given, s.options.DataDir)
	if err != nil {
		return keys, err
	}
	s.tokenKey = fileOfDatabase{
		name: tokenKeyIdentity, path: path,
		loss: "tokens of users, hosts, controllers and discovery images from before are refused then",
	}
	if given.PrivateKey != "" || given.PublicKey != "" {
		s.tokenKey.path = "EC_PUBLIC_KEY_PEM"
	} else if errors.Is(missing, fs.ErrNotExist) {
		s.tokenKey.created = []string{path}
	}
	s.tokenKey.fingerprint, err = auth.Fingerprint(keys.PublicKey)
	return keys, err
}

// ownAuthority notes the authority of the data folder; text is empty where there is none.
func (s *Service) ownAuthority(text string, created []string) {
	s.authority = fileOfDatabase{
		name: authorityIdentity, path: filepath.Join(s.certificates(), certificates.AuthorityFile), created: created,
		loss: "hosts, discovery images and installing clusters from before do not trust the service then",
	}
	if block, _ := pem.Decode([]byte(text)); block != nil {
		s.authority.fingerprint = fmt.Sprintf("%x", sha256.Sum256(block.Bytes))
	}
}
