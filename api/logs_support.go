package api

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"slipway/internal/hostconfig/manifests"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/redact"
	"slipway/internal/platform/spool"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// supportFile is a file of the archive of all logs that the service makes: a supporter reads it before the logs. Its name follows
// assisted-service (internal/cluster/cluster.go).
type supportFile struct {
	name  string
	write written
}

// supportFiles lists the cluster, its events, the output of its installer and its manifests. The archive is passed to third parties, so
// it holds no secrets.
func (s *server) supportFiles(ctx context.Context, c *model.Cluster) ([]supportFile, error) {
	view, err := s.viewOf(ctx, c)
	if err != nil {
		return nil, err
	}
	files := []supportFile{
		{"cluster_metadata.json", s.wholeCluster(ctx, c, view)},
		{"cluster_events.json", s.eventsOf(ctx, c)},
		{"installer.log", s.installerLog(ctx, c)},
	}
	list, err := s.Store.Manifests(ctx, c.ID)
	for _, m := range list {
		name := fileName(fmt.Sprintf("cluster_manifest_%s_%s_%s", m.Source, m.Folder, m.FileName))
		files = append(files, supportFile{name, s.manifestText(ctx, m)})
	}
	return files, err
}

func (s *server) eventsOf(ctx context.Context, c *model.Cluster) written {
	return func(out io.Writer) error {
		return array(out, func(yield func(wire.Event) error) error {
			return s.Store.EachEvent(ctx, store.EventFilter{ClusterID: c.ID}, func(e model.Event) error { return yield(eventToWire(e)) })
		})
	}
}

// installerLog writes the output of the OpenShift installer, which explains why a cluster could not be prepared. The pull secret was
// masked when it was stored; the installer may quote other values that it refuses.
func (s *server) installerLog(ctx context.Context, c *model.Cluster) written {
	return func(out io.Writer) error {
		text, err := s.Blob.Get(ctx, blob.ClusterFile(c.ID, "installer.log"))
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, redact.Lines(masked(string(text), secretsOf(c))))
		return err
	}
}

// secretsOf lists the secrets that the install-config of a cluster has beside its pull secret: of its proxies and of its override.
func secretsOf(c *model.Cluster) []string {
	var tree any
	_ = json.Unmarshal([]byte(c.InstallConfigOverride), &tree) // an override that cannot be read was refused
	secrets := secretsIn(tree)
	for _, address := range []string{c.Proxy.HTTP, c.Proxy.HTTPS} {
		secrets = append(secrets, secretsIn(address)...)
	}
	return secrets
}

// secretsIn lists the values that redact.Tree replaces.
func secretsIn(tree any) []string {
	var out []string
	switch node := tree.(type) {
	case map[string]any:
		for name, value := range node {
			if text, ok := value.(string); ok && redact.Name(name) {
				out = append(out, text)
				continue
			}
			out = append(out, secretsIn(value)...)
		}
	case []any:
		for _, value := range node {
			out = append(out, secretsIn(value)...)
		}
	case string:
		if u, err := url.Parse(node); err == nil && u.User != nil {
			out = append(out, u.User.String())
		}
	}
	return out
}

// masked returns a text without secrets, the longest first: one may hold another.
func masked(text string, secrets []string) string {
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, redacted)
		}
	}
	return text
}

// manifestText writes a manifest as it is stored, unless it holds a Secret.
func (s *server) manifestText(ctx context.Context, m model.Manifest) written {
	return func(out io.Writer) error {
		content, err := s.Blob.GetRef(ctx, m.Blob)
		if err != nil {
			return err
		}
		if manifests.HoldsSecret(m.FileName, content) {
			content = []byte("# " + redacted + ": a manifest with a Secret is not part of the logs\n")
		}
		_, err = out.Write(content)
		return err
	}
}

// packSupport packs files that are made meanwhile; a manifest that is gone, and the output of an installer that did not run, are left out.
func packSupport(archive *tar.Writer, files []supportFile, now time.Time) error {
	for _, f := range files {
		if err := packWritten(archive, f, now); err != nil && !errors.Is(err, model.ErrNotFound) {
			return fmt.Errorf("pack %s: %w", f.name, err)
		}
	}
	return nil
}

// packWritten packs a file, whose size is known when all of it is there.
func packWritten(archive *tar.Writer, f supportFile, now time.Time) error {
	whole := spool.New(inMemory)
	defer func() { _ = whole.Close() }()
	if err := f.write(whole); err != nil {
		return err
	}
	err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: 0o600, Size: whole.Len(), ModTime: now})
	if err != nil {
		return err
	}
	_, err = io.Copy(archive, whole.Reader())
	return err
}
