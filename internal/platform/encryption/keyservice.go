package encryption

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// Service encrypts with a key that it does not reveal: a KMS.
type Service interface {
	Encrypt(ctx context.Context, plain []byte) ([]byte, error)
	Decrypt(ctx context.Context, sealed []byte) ([]byte, error)
}

// ErrSealed: the key file is sealed, and no key service is given.
var ErrSealed = errors.New("sealed by a key service")

// serviceTimeout is how long a key service may take for one answer.
const serviceTimeout = 30 * time.Second

// sealedBlock is the PEM type of a sealed key file, and sealedHeader stands above it.
const (
	sealedBlock  = "SLIPWAY SEALED KEYS"
	sealedHeader = `# Keys that encrypt the secrets of Slipway, sealed by a key service. Keep a copy, and the key of the service: without both the secrets
# are lost. slipway keys list --key-service URL shows what is inside.
`
)

// Sealed reports whether the content of a key file is sealed.
func Sealed(content []byte) bool {
	return bytes.Contains(content, []byte("-----BEGIN "+sealedBlock+"-----"))
}

// unseal returns the lines of the file. Lines in clear stay as they are, with a key service too: the next change seals them.
func (f File) unseal(content []byte) ([]byte, error) {
	if !Sealed(content) {
		return content, nil
	}
	if f.Service == nil {
		return nil, fmt.Errorf("%w: require --key-service", ErrSealed)
	}
	block, _ := pem.Decode(content)
	if block == nil || block.Type != sealedBlock {
		return nil, errors.New("what the key service sealed is cut or changed: restore the file from a copy")
	}
	lines, err := ask(f.Service.Decrypt, block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("open it with the key service: %w", err)
	}
	return lines, nil
}

// seal returns the content of a file with these lines. What the service seals is opened again before it replaces anything: the keys
// would be lost otherwise.
func (f File) seal(lines []byte) ([]byte, error) {
	if f.Service == nil {
		return lines, nil
	}
	sealed, err := ask(f.Service.Encrypt, lines)
	if err != nil {
		return nil, fmt.Errorf("seal it with the key service: %w", err)
	}
	opened, err := ask(f.Service.Decrypt, sealed)
	if err != nil {
		return nil, fmt.Errorf("open again what the key service sealed: %w", err)
	}
	if !bytes.Equal(opened, lines) {
		return nil, errors.New("the key service opens something else than it sealed")
	}
	return append([]byte(sealedHeader), pem.EncodeToMemory(&pem.Block{Type: sealedBlock, Bytes: sealed})...), nil
}

// ask calls a key service. Drivers are not to end the process: Vault's panics at an answer without a body.
func ask(call func(context.Context, []byte) ([]byte, error), in []byte) (out []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), serviceTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the answer of the key service cannot be read: %v", p)
		}
	}()
	return call(ctx, in)
}

// Seal writes the file again, sealed by its service.
func (f File) Seal() error { return f.change(f.seal, asBefore) }

// Unseal writes the file again, in clear.
func (f File) Unseal() error {
	return f.change(func(lines []byte) ([]byte, error) { return lines, nil }, asBefore)
}

func asBefore(lines []byte, _ []Key) ([]byte, error) { return lines, nil }
