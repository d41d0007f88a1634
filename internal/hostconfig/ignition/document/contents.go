package document

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"slipway/internal/model"
)

// CheckContents refuses files whose inline contents do not match their declared hash or compression; Ignition
// would detect that only when a machine boots. An error is a model.ErrInvalid.
func CheckContents(config []byte) error {
	var c struct {
		Storage struct {
			Files []struct {
				Path     string     `json:"path"`
				Contents resource   `json:"contents"`
				Append   []resource `json:"append"`
			} `json:"files"`
		} `json:"storage"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return model.Invalidf("invalid Ignition config: %s", describe(err))
	}
	size := 0
	for _, file := range c.Storage.Files {
		for _, r := range append(file.Append, file.Contents) {
			data, err := r.verified()
			size += len(data)
			if err == nil && size > maxFile {
				err = fmt.Errorf("require at most %d bytes in all files", maxFile)
			}
			if err != nil && !errors.Is(err, ErrRemote) {
				return model.Invalidf("invalid Ignition config: storage.files: read contents of %s: %s", file.Path, err)
			}
		}
	}
	return nil
}

// verified reports whether contents have their declared digest.
func (r resource) verified() ([]byte, error) {
	data, err := r.content()
	if err != nil {
		return nil, err
	}
	var verification struct {
		Hash string `json:"hash"`
	}
	if err := unmarshal(r.Verification, &verification); err != nil {
		return nil, fmt.Errorf("read verification: %w", err)
	}
	kind, _, _ := strings.Cut(verification.Hash, "-")
	var has string
	switch kind {
	case "sha256":
		sum := sha256.Sum256(data)
		has = hex.EncodeToString(sum[:])
	case "sha512":
		sum := sha512.Sum512(data)
		has = hex.EncodeToString(sum[:])
	default:
		return data, nil // no hash is declared
	}
	if has = kind + "-" + has; !strings.EqualFold(has, verification.Hash) {
		return nil, fmt.Errorf("require the hash %s that they have, found %s", has, verification.Hash)
	}
	return data, nil
}

// CheckPaths refuses a config that makes a file where others need a folder: coreos/ignition compares equal
// paths only, and links. An error is a model.ErrInvalid.
func CheckPaths(config []byte) error {
	type node struct {
		Path string `json:"path"`
	}
	var c struct {
		Storage struct {
			Files       []node `json:"files"`
			Directories []node `json:"directories"`
			Links       []node `json:"links"`
		} `json:"storage"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return model.Invalidf("invalid Ignition config: %s", describe(err))
	}
	files := make(map[string]bool, len(c.Storage.Files))
	for _, f := range c.Storage.Files {
		files[f.Path] = true
	}
	for _, nodes := range [][]node{c.Storage.Files, c.Storage.Directories, c.Storage.Links} {
		for _, n := range nodes {
			for above := path.Dir(n.Path); len(above) > 1; above = path.Dir(above) {
				if files[above] {
					return model.Invalidf(
						"invalid Ignition config: storage: %s must be a folder, not a file, because it is above %s",
						above,
						n.Path,
					)
				}
			}
		}
	}
	return nil
}
