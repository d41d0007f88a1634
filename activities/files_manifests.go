package activities

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/activity"

	"slipway/internal/hostconfig/manifests"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
)

// manifests makes the service's manifests anew and reads all that the installer gets, by folder and name. A user's manifest stays in
// the place of a service's.
func (a *Files) manifests(ctx context.Context, c *model.Cluster, hosts []*model.Host, envs []*model.InfraEnv) (map[string][]byte, error) {
	generated, err := manifests.Generate(manifests.Input{Cluster: c, Hosts: hosts, InfraEnvs: envs, Options: a.Manifests})
	if err != nil {
		return nil, err
	}
	if err := a.storeManifests(ctx, c, generated); err != nil {
		return nil, err
	}
	list, err := a.Store.Manifests(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, m := range list {
		if files[m.Folder+"/"+m.FileName], err = a.Blob.GetRef(ctx, m.Blob); err != nil {
			return nil, fmt.Errorf("read manifest %s/%s: %w", m.Folder, m.FileName, err)
		}
	}
	if err := manifests.CheckTogether(files); err != nil { // also of files that an older version took
		return nil, err
	}
	return files, manifests.CheckPools(hosts, files)
}

// storeManifests keeps the manifests of the service apart from the files of users, so
// that neither overwrites the other.
func (a *Files) storeManifests(ctx context.Context, c *model.Cluster, generated []manifests.File) error {
	all := make([]model.Manifest, 0, len(generated))
	for _, f := range generated {
		ref, err := a.Blob.PutSecret(ctx, blob.ClusterFile(c.ID, "generated/"+f.Folder+"/"+f.Name), f.Content)
		if err != nil {
			return fmt.Errorf("store manifest %s: %w", f.Name, err)
		}
		all = append(all, model.Manifest{ClusterID: c.ID, Folder: f.Folder, FileName: f.Name, Blob: ref})
	}
	leftOut, err := a.Store.ReplaceSystemManifests(ctx, c.ID, all)
	if err != nil {
		return err
	}
	for _, m := range leftOut {
		activity.GetLogger(ctx).Info("manifest of a user used instead of ours", "cluster", c.ID, "manifest", m.FileName)
	}
	return nil
}
