package api

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"slipway/internal/hostconfig/manifests"
	"slipway/internal/model"
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

// supportFiles lists the cluster, its events and its manifests. The archive is passed to third parties, so it holds no secrets.
func (s *server) supportFiles(ctx context.Context, c *model.Cluster) ([]supportFile, error) {
	view, err := s.viewOf(ctx, c)
	if err != nil {
		return nil, err
	}
	view.redacted = true
	files := []supportFile{
		{"cluster_metadata.json", s.wholeCluster(ctx, view)},
		{"cluster_events.json", s.eventsOf(ctx, c)},
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

// packSupport packs files that are made meanwhile; a manifest that is gone is left out.
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
