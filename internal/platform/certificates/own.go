package certificates

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// Lives of the certificates that the service makes for itself. The authority is in discovery images and on installed hosts: it
// outlives them.
const (
	authorityLife = 20 * 365 * 24 * time.Hour
	serverLife    = 397 * 24 * time.Hour // what clients of the CA/Browser Forum's rules take at most
	renewBefore   = 30 * 24 * time.Hour
	renewEvery    = 12 * time.Hour
)

// The files in the folder of Own; clients have to trust AuthorityFile, AuthorityKeyFile is its key.
const (
	AuthorityFile    = "ca.pem"
	AuthorityKeyFile = "ca.key"
	serverFile       = "server.pem"
	serverKeyFile    = "server.key"
)

// Own is an authority of the service's own, and the certificate of its listener, in a folder that only the user of this process
// can enter. Processes that share the folder share both.
type Own struct {
	dir       string
	names     []string // host names and addresses of the certificate
	now       func() time.Time
	authority []byte
}

// OpenOwn reads what the folder has, and makes what is missing, damaged, about to expire or of other names.
func OpenOwn(dir string, names []string, now func() time.Time) (*Own, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create folder for certificates: %w", err)
	}
	o := &Own{dir: dir, names: names, now: now}
	return o, o.ensure()
}

// Authority returns the certificate that clients have to trust, PEM.
func (o *Own) Authority() string { return string(o.authority) }

// Files returns the files of the listener's certificate.
func (o *Own) Files() Files {
	return Files{Certificate: filepath.Join(o.dir, serverFile), Key: filepath.Join(o.dir, serverKeyFile)}
}

// Keep returns a function that renews the certificate in time, until its context ends.
func (o *Own) Keep(log *slog.Logger) func(context.Context) {
	return func(ctx context.Context) {
		ticks := time.NewTicker(renewEvery)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
				if err := o.ensure(); err != nil {
					log.ErrorContext(ctx, "certificate not renewed", "error", err)
				}
			}
		}
	}
}

func (o *Own) ensure() error {
	// Two processes must not make two authorities: the folder itself is the lock.
	lock, err := os.Open(o.dir)
	if err != nil {
		return fmt.Errorf("open folder of certificates: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil { //nolint:gosec // a descriptor
		return fmt.Errorf("lock folder of certificates: %w", err)
	}
	authority, err := o.readAuthority()
	if err != nil {
		return err
	}
	if o.served(authority) {
		return nil
	}
	pair, err := authority.IssueServer(o.names, o.now(), serverLife)
	if err != nil {
		return err
	}
	return o.write(map[string][]byte{serverKeyFile: pair.Key, serverFile: slices.Concat(pair.Certificate, o.authority)})
}

// readAuthority reads the authority, or makes it where there is none. A damaged one is an error: hosts trust it.
func (o *Own) readAuthority() (*Authority, error) {
	certificate, err := os.ReadFile(filepath.Join(o.dir, AuthorityFile))
	if errors.Is(err, fs.ErrNotExist) {
		return o.newAuthority()
	}
	if err != nil {
		return nil, fmt.Errorf("read the authority: %w", err)
	}
	key, err := os.ReadFile(filepath.Join(o.dir, AuthorityKeyFile))
	if err != nil {
		return nil, fmt.Errorf("read the key of the authority: %w", err)
	}
	a, err := ParseAuthority(Pair{certificate, key})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(o.dir, AuthorityFile), err)
	}
	o.authority = certificate
	return a, nil
}

func (o *Own) newAuthority() (*Authority, error) {
	a, pair, err := NewAuthority(x509.Certificate{Subject: pkix.Name{CommonName: "Slipway of " + o.names[0]}}, o.now(), authorityLife)
	if err != nil {
		return nil, err
	}
	o.authority = pair.Certificate
	// The certificate last: with it the pair is there.
	if err := o.write(map[string][]byte{AuthorityKeyFile: pair.Key}); err != nil {
		return nil, err
	}
	return a, o.write(map[string][]byte{AuthorityFile: pair.Certificate})
}

// served reports whether the certificate in the folder is good for all names, for a while.
func (o *Own) served(authority *Authority) bool {
	certificate, err := os.ReadFile(filepath.Join(o.dir, serverFile))
	if err != nil {
		return false
	}
	key, err := os.ReadFile(filepath.Join(o.dir, serverKeyFile))
	return err == nil && authority.Vouches(Pair{certificate, key}, o.names, o.now().Add(renewBefore))
}

func (o *Own) write(files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(o.dir, name)
		if before, err := os.ReadFile(path); err == nil && bytes.Equal(before, content) {
			continue
		}
		if err := renameio.WriteFile(path, content, 0o600, renameio.IgnoreUmask()); err != nil {
			return fmt.Errorf("write certificates: %w", err)
		}
	}
	return nil
}
