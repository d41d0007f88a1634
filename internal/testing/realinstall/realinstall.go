// Package realinstall holds what the real openshift-install wrote: version 4.19, built from its source of May 2025, on 53
// install-configs, recorded on 2026-11-25 without a network. Keys and certificates in it are throw-away ones. Only tests
// import it.
package realinstall

import (
	"archive/tar"
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

//go:embed testdata/openshift-install-4.19.tar.zst
var archive []byte

// Case is one install-config and what came of it.
type Case struct {
	Name string
	// Files of its folder, by path: install-config.yaml, manifests/*, openshift/*, *.ign (bootstrap.ign, master.ign,
	// worker.ign; bootstrap-in-place-for-live-iso.ign of a single node) and others.
	Files map[string][]byte
	// Runs are the commands that ran, in order.
	Runs []Run
}

// Run is one run of the program.
type Run struct {
	Command  string   // such as "create manifests"
	Exit     int      // 0, or 3 where the install-config is refused
	Messages []string // lines of its log: level=error msg=...
	Files    []string // the files that existed after it
}

var read = sync.OnceValues(func() ([]Case, error) {
	decoder, err := zstd.NewReader(bytes.NewReader(archive), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	byName := map[string]*Case{}
	for files := tar.NewReader(decoder); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(files)
		if err != nil {
			return nil, err
		}
		name, file, _ := strings.Cut(path.Clean(header.Name), "/")
		if byName[name] == nil {
			byName[name] = &Case{Name: name, Files: map[string][]byte{}}
		}
		byName[name].Files[file] = content
	}
	var cases []Case
	for _, c := range byName {
		if err := json.Unmarshal(c.Files["result.json"], &c.Runs); err != nil {
			return nil, err
		}
		cases = append(cases, *c)
	}
	slices.SortFunc(cases, func(a, b Case) int { return strings.Compare(a.Name, b.Name) })
	return cases, nil
})

// Cases returns all cases, sorted by name.
func Cases(t testing.TB) []Case {
	t.Helper()
	cases, err := read()
	require.NoError(t, err)
	require.Len(t, cases, 53)
	return cases
}

// Bootstrap returns the config of the bootstrap host; nil where the install-config was refused.
func (c Case) Bootstrap() []byte {
	if config, ok := c.Files["bootstrap-in-place-for-live-iso.ign"]; ok {
		return config
	}
	return c.Files["bootstrap.ign"]
}

// File returns the contents of a file of an Ignition config, which are base64 in a data URL.
func File(t testing.TB, config []byte, name string) []byte {
	t.Helper()
	var c struct {
		Storage struct {
			Files []struct {
				Path     string
				Contents struct{ Source string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(config, &c))
	for _, f := range c.Storage.Files {
		if f.Path == name {
			_, data, found := strings.Cut(f.Contents.Source, ";base64,")
			require.True(t, found, name)
			content, err := base64.StdEncoding.DecodeString(data)
			require.NoError(t, err)
			return content
		}
	}
	require.Fail(t, "no file "+name)
	return nil
}
