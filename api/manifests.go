package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/hostconfig/manifests"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// V2ListClusterManifests lists the manifests of a cluster; those the service made itself
// on request only.
func (s *server) V2ListClusterManifests(
	w http.ResponseWriter,
	r *http.Request,
	id uuid.UUID,
	params wire.V2ListClusterManifestsParams,
) error {
	list, err := s.manifests(r.Context(), id)
	if err != nil {
		return err
	}
	out := []wire.Manifest{}
	for _, m := range list {
		if m.Source == store.SourceUser || params.IncludeSystemGenerated {
			out = append(out, manifestToWire(m))
		}
	}
	return ok(w, out)
}

func (s *server) manifests(ctx context.Context, id uuid.UUID) ([]model.Manifest, error) {
	if _, err := s.Store.Cluster(ctx, id); err != nil {
		return nil, err
	}
	return s.Store.Manifests(ctx, id)
}

// V2CreateClusterManifest adds a manifest to the installation, or replaces the user's manifest of that folder and name: clients that
// start again send their manifests again.
func (s *server) V2CreateClusterManifest(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	var params wire.CreateManifestParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	m := model.Manifest{
		ClusterID: id, Folder: or(string(params.Folder), manifests.FolderManifests), FileName: params.FileName, Source: store.SourceUser,
	}
	if err := s.createManifest(r.Context(), m, params.Content); err != nil {
		return err
	}
	return created(w, manifestToWire(m))
}

func (s *server) createManifest(ctx context.Context, m model.Manifest, text string) error {
	c, err := s.Store.Cluster(ctx, m.ClusterID)
	if err != nil {
		return err
	}
	if c.Imported {
		return model.Invalidf("manifest %s: cluster %s exists already, apply it there", m.FileName, c.Name)
	}
	if err := manifests.CheckName(m.FileName); err != nil {
		return err
	}
	content, err := manifests.Decode(m.FileName, text)
	if err != nil {
		return err
	}
	return s.putManifest(ctx, m, content)
}

// V2UpdateClusterManifest changes the content of a manifest, renames or moves it.
func (s *server) V2UpdateClusterManifest(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	var params wire.UpdateManifestParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	after, err := s.changeManifest(r.Context(), id, params)
	if err != nil {
		return err
	}
	return ok(w, manifestToWire(after))
}

func (s *server) changeManifest(ctx context.Context, id uuid.UUID, p wire.UpdateManifestParams) (model.Manifest, error) {
	if err := s.requireManifestsOpen(ctx, id, p.FileName); err != nil {
		return model.Manifest{}, err
	}
	before, err := s.usersManifest(ctx, id, or(string(p.Folder), manifests.FolderManifests), p.FileName)
	if err != nil {
		return before, err
	}
	after := before
	after.Folder, after.FileName = or(string(deref(p.UpdatedFolder)), before.Folder), or(deref(p.UpdatedFileName), before.FileName)
	if err := manifests.CheckName(after.FileName); err != nil {
		return before, err
	}
	content, err := s.changedContent(ctx, before, after.FileName, deref(p.UpdatedContent))
	if err != nil {
		return before, err
	}
	if after.Folder == before.Folder && after.FileName == before.FileName {
		return after, s.putManifest(ctx, after, content)
	}
	return after, s.moveManifest(ctx, before, after, content)
}

// changedContent returns the new content of a manifest, or its current content when text is empty; under a new name that has to be
// readable too.
func (s *server) changedContent(ctx context.Context, m model.Manifest, name, text string) ([]byte, error) {
	if text != "" {
		return manifests.Decode(name, text)
	}
	content, err := s.Blob.GetRef(ctx, m.Blob)
	if err != nil {
		return nil, err
	}
	return content, manifests.CheckContent(name, content)
}

// V2DeleteClusterManifest removes a manifest; a missing manifest is a success.
func (s *server) V2DeleteClusterManifest(
	w http.ResponseWriter,
	r *http.Request,
	id uuid.UUID,
	params wire.V2DeleteClusterManifestParams,
) error {
	if err := s.requireManifestsOpen(r.Context(), id, params.FileName); err != nil {
		return err
	}
	m, err := s.usersManifest(r.Context(), id, or(string(params.Folder), manifests.FolderManifests), params.FileName)
	switch {
	case err == nil:
		err = s.removeManifest(r.Context(), m)
	case errors.Is(err, errManifestMissing):
		err = nil
	}
	if err != nil {
		return err
	}
	return ok(w, nil)
}

// V2DownloadClusterManifest gives the content of a manifest.
func (s *server) V2DownloadClusterManifest(
	w http.ResponseWriter,
	r *http.Request,
	id uuid.UUID,
	params wire.V2DownloadClusterManifestParams,
) error {
	m, err := s.findManifest(r.Context(), id, or(string(params.Folder), manifests.FolderManifests), params.FileName)
	if err != nil {
		return err
	}
	return s.downloadBlob(w, r, m.Blob.Key, m.FileName, noManifest(m.Folder, m.FileName))
}
