package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/store"
	"slipway/internal/wire"
)

// manifestFolder is the folder of manifests whose client names none.
const manifestFolder = "manifests"

// V2ListClusterManifests lists the manifests of a cluster; those the service made itself
// on request only.
func (s *server) V2ListClusterManifests(w http.ResponseWriter, r *http.Request, id uuid.UUID, params wire.V2ListClusterManifestsParams) {
	list, err := s.manifests(r.Context(), id)
	out := []wire.Manifest{}
	for _, m := range list {
		if m.Source == "user" || params.IncludeSystemGenerated {
			out = append(out, manifestToWire(m))
		}
	}
	ok(w, r, out, err)
}

func (s *server) manifests(ctx context.Context, id uuid.UUID) ([]model.Manifest, error) {
	if _, err := s.Store.Cluster(ctx, id); err != nil {
		return nil, err
	}
	return s.Store.Manifests(ctx, id)
}

// V2CreateClusterManifest adds a manifest to the installation.
func (s *server) V2CreateClusterManifest(w http.ResponseWriter, r *http.Request, id uuid.UUID) {
	var params wire.CreateManifestParams
	err := read(r, &params)
	var m model.Manifest
	if err == nil {
		m = model.Manifest{ClusterID: id, Folder: or(string(params.Folder), manifestFolder), FileName: params.FileName, Source: "user"}
		_, err = s.manifests(r.Context(), id)
	}
	var content []byte
	if err == nil {
		content, err = manifestContent(m.FileName, params.Content)
	}
	if err == nil {
		err = s.putManifest(r.Context(), m, content)
	}
	created(w, r, manifestToWire(m), err)
}

// V2UpdateClusterManifest changes the content of a manifest, or moves it.
func (s *server) V2UpdateClusterManifest(w http.ResponseWriter, r *http.Request, id uuid.UUID) {
	var params wire.UpdateManifestParams
	err := read(r, &params)
	var after model.Manifest
	if err == nil {
		after, err = s.changeManifest(r.Context(), id, params)
	}
	ok(w, r, manifestToWire(after), err)
}

func (s *server) changeManifest(ctx context.Context, id uuid.UUID, p wire.UpdateManifestParams) (model.Manifest, error) {
	before, err := s.changeableManifest(ctx, id, string(p.Folder), p.FileName)
	if err != nil {
		return before, err
	}
	after := before
	after.Folder, after.FileName = or(string(deref(p.UpdatedFolder)), before.Folder), or(deref(p.UpdatedFileName), before.FileName)
	moved := after.Folder != before.Folder || after.FileName != before.FileName
	var content []byte
	if text := deref(p.UpdatedContent); text != "" {
		content, err = manifestContent(after.FileName, text)
	} else {
		content, err = s.Blob.Get(ctx, before.Blob.Key)
	}
	if err == nil {
		err = checkManifestName(after.FileName)
	}
	if err != nil {
		return before, err
	}
	if moved && after.FileName == before.FileName {
		// The same name may not stand in both folders, not even for a moment.
		if _, err := s.Store.DeleteManifest(ctx, id, before.Folder, before.FileName); err != nil {
			return before, err
		}
	}
	if err := s.putManifest(ctx, after, content); err != nil || !moved {
		return after, err
	}
	return after, s.removeManifest(ctx, before)
}

// V2DeleteClusterManifest removes a manifest.
func (s *server) V2DeleteClusterManifest(w http.ResponseWriter, r *http.Request, id uuid.UUID, params wire.V2DeleteClusterManifestParams) {
	m, err := s.changeableManifest(r.Context(), id, or(string(params.Folder), manifestFolder), params.FileName)
	if err == nil {
		err = s.removeManifest(r.Context(), m)
	}
	ok(w, r, nil, err)
}

// V2DownloadClusterManifest gives the content of a manifest.
func (s *server) V2DownloadClusterManifest(w http.ResponseWriter, r *http.Request, id uuid.UUID, params wire.V2DownloadClusterManifestParams) {
	m, err := s.findManifest(r.Context(), id, or(string(params.Folder), manifestFolder), params.FileName)
	if err != nil {
		fail(w, r, err)
		return
	}
	s.downloadBlob(w, r, m.Blob.Key, m.FileName, errNoManifest(m.Folder, m.FileName))
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
	return model.Manifest{}, errNoManifest(folder, name)
}

// changeableManifest finds a manifest of a user whose cluster is not being installed.
func (s *server) changeableManifest(ctx context.Context, id uuid.UUID, folder, name string) (model.Manifest, error) {
	m, err := s.findManifest(ctx, id, folder, name)
	if err != nil {
		return m, err
	}
	if m.Source != "user" {
		return m, model.Invalidf("manifest %s cannot be changed: require one of a user, found one of the service", name)
	}
	c, err := s.Store.Cluster(ctx, id)
	if err != nil {
		return m, err
	}
	if err := requireStatus("changed", c, changeable); err != nil {
		return m, model.Invalidf("manifest %s: %s", name, err) // 400 by the contract (ignition.md, 5d)
	}
	return m, nil
}

// putManifest stores the content first: a row without content would break the installation.
func (s *server) putManifest(ctx context.Context, m model.Manifest, content []byte) (err error) {
	if err := checkManifestName(m.FileName); err != nil {
		return err
	}
	if m.Blob, err = s.Blob.PutSecret(ctx, blobKey(m.ClusterID, manifestKey(m.Folder, m.FileName)), content); err != nil {
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

func (s *server) removeManifest(ctx context.Context, m model.Manifest) error {
	if _, err := s.Store.DeleteManifest(ctx, m.ClusterID, m.Folder, m.FileName); err != nil {
		return err
	}
	if err := s.Blob.Delete(ctx, m.Blob.Key); err != nil {
		return err
	}
	return s.manifestsChanged(ctx, m.ClusterID)
}

// manifestsChanged has the cluster evaluated again: some networks need manifests.
func (s *server) manifestsChanged(ctx context.Context, id uuid.UUID) error {
	return s.Store.Write(ctx, func(tx *store.Tx) error {
		tx.RefreshCluster(id)
		return nil
	})
}

func errNoManifest(folder, name string) error {
	return model.NotFoundf("manifest %s was not found in folder %s", name, folder)
}

func manifestToWire(m model.Manifest) wire.Manifest {
	return wire.Manifest{
		Folder: wire.ManifestFolder(m.Folder), FileName: m.FileName, ManifestSource: wire.ManifestManifestSource(m.Source),
	}
}
