// Package contexts keeps how services are reached: address, authority and token, in a file whose form follows the kubeconfig of
// kubectl (https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/), with one list instead of three.
package contexts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"sigs.k8s.io/yaml"

	"slipway/internal/model"
)

// AdminFile is the name of the file in the data folder of a service: with it the command line of that machine needs no login.
const AdminFile = "admin.config"

// Context is how one service is reached.
type Context struct {
	Name   string `json:"name"`
	Server string `json:"server"` // "https://slipway.example.com:8090"
	// Authority signed the certificate of the server, PEM; empty: one that the system trusts did.
	Authority []byte `json:"certificate-authority-data,omitempty"`
	Token     string `json:"token,omitempty"`
}

// Secret returns the token of a context.
func (c Context) Secret() model.Secret { return model.Secret(c.Token) }

// File holds contexts.
type File struct {
	Current  string    `json:"current-context,omitempty"`
	Contexts []Context `json:"contexts"`
}

// UserFile returns the path of the user's file: SLIPWAY_CONFIG, or slipway/config below the folder for configuration of the system (XDG
// Base Directory Specification).
func UserFile(lookup func(string) (string, bool)) (string, error) {
	if path, found := lookup("SLIPWAY_CONFIG"); found && path != "" {
		return path, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for configuration: %w", err)
	}
	return filepath.Join(dir, "slipway", "config"), nil
}

// Read reads a file; one that is not there is empty.
func Read(path string) (File, error) {
	var f File
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("read contexts: %w", err)
	}
	if err := yaml.UnmarshalStrict(content, &f); err != nil {
		return f, fmt.Errorf("read contexts of %s: %w", path, err)
	}
	return f, nil
}

// Write replaces a file with one that only its owner reads.
func (f File) Write(path string) error {
	content, err := yaml.Marshal(f)
	if err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	if err := renameio.WriteFile(path, content, 0o600, renameio.IgnoreUmask()); err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	return nil
}

// Put adds a context, or replaces the context of its name, and makes it the current one.
func (f *File) Put(c Context) {
	f.Current = c.Name
	if at := slices.IndexFunc(f.Contexts, func(o Context) bool { return o.Name == c.Name }); at >= 0 {
		f.Contexts[at] = c
		return
	}
	f.Contexts = append(f.Contexts, c)
}

// Remove takes a context out and reports whether it was there.
func (f *File) Remove(name string) bool {
	before := len(f.Contexts)
	f.Contexts = slices.DeleteFunc(f.Contexts, func(c Context) bool { return c.Name == name })
	if f.Current == name {
		f.Current = ""
	}
	return len(f.Contexts) < before
}

// ByName returns the context of a name; of the empty name the current one.
func (f *File) ByName(name string) (Context, bool) {
	if name == "" {
		name = f.Current
	}
	return f.find(func(c Context) bool { return c.Name == name })
}

// ByServer returns the context of an address: the current one before others.
func (f *File) ByServer(server string) (Context, bool) {
	same := func(c Context) bool { return strings.TrimRight(c.Server, "/") == strings.TrimRight(server, "/") }
	if c, found := f.ByName(""); found && same(c) {
		return c, true
	}
	return f.find(same)
}

func (f *File) find(of func(Context) bool) (Context, bool) {
	at := slices.IndexFunc(f.Contexts, of)
	if at < 0 {
		return Context{}, false
	}
	return f.Contexts[at], true
}
