package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/hostconfig/manifests"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// errManifestMissing marks that a manifest is not there, of a cluster that is.
var errManifestMissing = fmt.Errorf("manifest %w", model.ErrNotFound)

func noManifest(folder, name string) error {
	return httpapi.Errorf(errManifestMissing, "manifest %s was not found in folder %s", name, folder)
}

func (s *server) findManifest(ctx context.Context, id uuid.UUID, folder, name string) (model.Manifest, error) {
	list, err := s.manifests(ctx, id)
	if err != nil {
		return model.Manifest{}, err
	}
	for _, m := range list {
		if m.Folder == folder && m.FileName == name {
			return m, nil
		}
	}
	return model.Manifest{}, noManifest(folder, name)
}

// usersManifest finds a manifest that users may change.
func (s *server) usersManifest(ctx context.Context, id uuid.UUID, folder, name string) (model.Manifest, error) {
	m, err := s.findManifest(ctx, id, folder, name)
	if err == nil && m.Source != store.SourceUser {
		err = model.Invalidf(
			"manifest %s belongs to the service and cannot be changed; add a manifest with this name to replace it",
			name,
		)
	}
	return m, err
}

// requireManifestsOpen refuses changes while the installation may have read a manifest:
// 400 (docs/reference/ignition.md, "Rules for manifests").
func (s *server) requireManifestsOpen(ctx context.Context, id uuid.UUID, name string) error {
	c, err := s.Store.Cluster(ctx, id)
	if err != nil {
		return err
	}
	if err := requireStatus("changed", c, lifecycle.Changeable); err != nil {
		return model.Invalidf("manifest %s: %s", name, err)
	}
	return nil
}

// manifestKey returns the key that the content of a user's manifest is kept under.
func manifestKey(m model.Manifest) string {
	return blob.ClusterFile(m.ClusterID, "manifests/"+m.Folder+"/"+m.FileName)
}

// putManifest stores the content first: a row without content would break the installation.
func (s *server) putManifest(ctx context.Context, m model.Manifest, content []byte) (err error) {
	if m.Blob, err = s.Blob.PutSecret(ctx, manifestKey(m), content); err != nil {
		return err
	}
	if err := s.Store.PutManifest(ctx, m); err != nil {
		if errors.Is(err, model.ErrInvalid) { // the name stands in the other folder, so this folder had none
			err = errors.Join(err, s.Blob.Delete(ctx, m.Blob.Key))
		}
		return err
	}
	return s.manifestsChanged(ctx, m.ClusterID)
}

// moveManifest gives a manifest another place; content that was written for a move that was refused is overwritten by the next manifest
// in that place.
func (s *server) moveManifest(ctx context.Context, before, after model.Manifest, content []byte) error {
	there, err := s.findManifest(ctx, after.ClusterID, after.Folder, after.FileName)
	if err == nil && there.Source == store.SourceUser { // its content must not be overwritten
		return store.ErrManifestTaken(before, after)
	}
	if after.Blob, err = s.Blob.PutSecret(ctx, manifestKey(after), content); err != nil {
		return err
	}
	if err := s.Store.MoveManifest(ctx, before, after); err != nil {
		return err
	}
	if err := s.Blob.Delete(ctx, before.Blob.Key); err != nil {
		return err
	}
	return s.manifestsChanged(ctx, after.ClusterID)
}

func (s *server) removeManifest(ctx context.Context, m model.Manifest) error {
	if _, err := s.Store.DeleteManifest(ctx, m.ClusterID, m.Folder, m.FileName); err != nil {
		return err
	}
	if err := s.Blob.Delete(ctx, m.Blob.Key); err != nil {
		return err
	}
	return s.manifestsChanged(ctx, m.ClusterID)
}

// manifestsChanged has the cluster evaluated again: some networks need manifests, and objects may not be readable together.
func (s *server) manifestsChanged(ctx context.Context, id uuid.UUID) error {
	fault, err := s.manifestFault(ctx, id)
	if err != nil {
		return err
	}
	_, err = s.Store.UpdateCluster(ctx, id, func(c *model.Cluster, tx *store.Tx) error {
		c.ManifestFault = fault
		tx.RefreshCluster(id)
		return nil
	})
	return err
}

// manifestFault returns why the machine config controller could not read the manifests of users together, empty if it can.
func (s *server) manifestFault(ctx context.Context, id uuid.UUID) (string, error) {
	list, err := s.Store.Manifests(ctx, id)
	if err != nil {
		return "", err
	}
	files := map[string][]byte{}
	for _, m := range list {
		if m.Source != store.SourceUser {
			continue
		}
		content, err := s.Blob.GetRef(ctx, m.Blob)
		if errors.Is(err, model.ErrNotFound) {
			continue // removed meanwhile: that request looks again
		}
		if err != nil {
			return "", err
		}
		files[m.Folder+"/"+m.FileName] = content
	}
	if fault := manifests.CheckTogether(files); fault != nil {
		return fault.Error(), nil //nolint:nilerr // the fault is of the files, and the answer
	}
	return "", nil
}

func manifestToWire(m model.Manifest) wire.Manifest {
	return wire.Manifest{
		Folder: wire.ManifestFolder(m.Folder), FileName: m.FileName, ManifestSource: wire.ManifestManifestSource(m.Source),
	}
}
