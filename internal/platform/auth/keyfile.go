package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"slipway/internal/model"
)

// KeyFile is the name of the file with the key that signs tokens, in the data folder.
const KeyFile = "token.key"

// LoadOrCreateKeys reads the key that signs tokens (P-256, PEM) and returns it with its public key. A missing file is made, mode
// 0600, atomically: processes that start at once use the same key. A file that other users can read is refused.
func LoadOrCreateKeys(path string) (private model.Secret, public string, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := createKey(path); err != nil {
			return "", "", fmt.Errorf("create the key of tokens: %w", err)
		}
		info, err = os.Stat(path)
	}
	if err != nil {
		return "", "", fmt.Errorf("read the key of tokens: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o007 != 0 {
		return "", "", fmt.Errorf("read the key of tokens %s: require a file that only its owner reads (mode 0600), found mode %04o", path, mode)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", "", fmt.Errorf("read the key of tokens: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return "", "", fmt.Errorf("read the key of tokens %s: must be PEM", path)
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return "", "", fmt.Errorf("read the key of tokens %s: must be a key of an elliptic curve", path)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return "", "", fmt.Errorf("read the key of tokens: %w", err)
	}
	return model.Secret(text), string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), nil
}

// createKey links a complete file to path; one that another process made meanwhile stays.
func createKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".key-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	err = errors.Join(pem.Encode(file, &pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), file.Sync(), file.Close())
	if err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
