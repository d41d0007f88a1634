package pki

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Names of what a folder of keys holds: NAME.crt and NAME.key.
const (
	Root         = "root"          // signs the machine config server's and the kubelets'
	APISigner    = "api-signer"    // signs the API servers'
	AdminSigner  = "admin-signer"  // signs the administrator's
	EtcdSigner   = "etcd-signer"   // signs etcd's members' and clients'
	RouterSigner = "router-signer" // signs the router's
	Admin        = "admin"
	ConfigServer = "machine-config-server"
	Bootstrapper = "node-bootstrapper"
	Accounts     = "service-accounts" // .pub and .key
)

// Keys are a folder of certificates and keys.
type Keys string

// Cert returns the path of a certificate.
func (k Keys) Cert(name string) string { return filepath.Join(string(k), name+".crt") }

// Key returns the path of a key.
func (k Keys) Key(name string) string { return filepath.Join(string(k), name+".key") }

// Public returns the path of a public key.
func (k Keys) Public(name string) string { return filepath.Join(string(k), name+".pub") }

// Clients returns the path of the authorities of API clients.
func (k Keys) Clients() string { return filepath.Join(string(k), "clients.crt") }

// Load reads a certificate and its key.
func (k Keys) Load(name string) (Pair, error) {
	cert, err1 := os.ReadFile(k.Cert(name))
	key, err2 := os.ReadFile(k.Key(name))
	if err := errors.Join(err1, err2); err != nil {
		return Pair{}, fmt.Errorf("read the certificate %s: %w", name, err)
	}
	return Pair{cert, key}, nil
}

// Store writes a certificate and its key.
func (k Keys) Store(name string, p Pair) error {
	if err := os.MkdirAll(string(k), 0o700); err != nil {
		return fmt.Errorf("make the folder of keys: %w", err)
	}
	err := errors.Join(os.WriteFile(k.Cert(name), p.Cert, 0o600), os.WriteFile(k.Key(name), p.Key, 0o600))
	if err != nil {
		return fmt.Errorf("write the certificate %s: %w", name, err)
	}
	return nil
}

// Issue stores a certificate that an authority signs, unless the stored certificate says the same. Several programs of a host ask for a
// certificate at once, and others read it.
func (k Keys) Issue(authority Pair, name string, s Subject, now time.Time) error {
	if err := os.MkdirAll(string(k), 0o700); err != nil {
		return fmt.Errorf("make the folder of keys: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(string(k), "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock the folder of keys: %w", err)
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock the folder of keys: %w", err)
	}
	if stored, err := k.Load(name); err == nil && stored.says(s, authority) {
		return nil
	}
	made, err := authority.Issue(s, now)
	if err != nil {
		return err
	}
	return k.Store(name, made)
}
