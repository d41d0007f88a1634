package cli

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/wire"
)

// clusterManifests are the commands below "cluster manifests".
type clusterManifests struct {
	List   manifestsList   `cmd:"" help:"List the manifests added to the installation."`
	Add    manifestsAdd    `cmd:"" help:"Add a manifest, or replace the manifest with its name."`
	Show   manifestsShow   `cmd:"" help:"Print a manifest."`
	Remove manifestsRemove `cmd:"" help:"Remove a manifest."`
}

// folderFlag is the folder of a manifest.
type folderFlag struct {
	Folder wire.ManifestFolder `enum:"manifests,openshift" default:"manifests" help:"Folder of the manifest: manifests or openshift."`
}

type manifestsList struct {
	clusterArgument
	All bool `help:"Include manifests that the service makes."`
}

// Run prints the names of manifests.
func (k *manifestsList) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	list, err := ask(ctx, &at.Connection, k, "list the manifests of", func(c *client.Client, found *wire.Cluster) ([]wire.Manifest, error) {
		return c.ListManifests(ctx, found.ID, k.All)
	})
	if err != nil {
		return err
	}
	if at.forPrograms() {
		return at.print(t, list)
	}
	table := view.Table{Header: []string{"FOLDER", "NAME", "MADE BY"}}
	for _, m := range list {
		table.Add(string(m.Folder), m.FileName, string(m.ManifestSource))
	}
	at.table(t, &table)
	return nil
}

type manifestsAdd struct {
	clusterArgument
	Files []string `arg:"" type:"existingfile" name:"file" help:"Files with manifests; each keeps its name."`
	folderFlag
}

// Run adds manifests.
func (k *manifestsAdd) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	var added []*wire.Manifest
	for _, path := range k.Files {
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read the manifest: %w", err)
		}
		manifest, err := ask(
			ctx,
			&at.Connection,
			k,
			"add "+path+" to",
			func(c *client.Client, found *wire.Cluster) (*wire.Manifest, error) {
				return c.CreateManifest(ctx, found.ID, wire.CreateManifestParams{
					FileName: filepath.Base(
						path,
					), Folder: wire.CreateManifestParamsFolder(k.Folder), Content: base64.StdEncoding.EncodeToString(content),
				})
			},
		)
		if err != nil {
			return err
		}
		added = append(added, manifest)
	}
	if at.forPrograms() {
		return at.print(t, added)
	}
	for _, m := range added {
		t.printf("manifest %s/%s added\n", m.Folder, m.FileName)
	}
	return nil
}

type manifestsShow struct {
	clusterArgument
	Manifest string `arg:"" help:"Name of the manifest."`
	folderFlag
	fileFlag
}

// Run prints a manifest.
func (k *manifestsShow) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	content, err := ask(ctx, &at.Connection, k, "download "+k.Manifest+" of", func(c *client.Client, found *wire.Cluster) ([]byte, error) {
		return c.Manifest(ctx, found.ID, string(k.Folder), k.Manifest)
	})
	if err != nil {
		return err
	}
	return k.write(t, "manifest "+k.Manifest, content)
}

type manifestsRemove struct {
	clusterArgument
	Manifest string `arg:"" help:"Name of the manifest."`
	folderFlag
}

// Run removes a manifest.
func (k *manifestsRemove) Run(ctx context.Context, at *ClusterCommands, t *Terminal) error {
	_, err := ask(ctx, &at.Connection, k, "remove "+k.Manifest+" of", func(c *client.Client, found *wire.Cluster) (nothing, error) {
		return nothing{}, c.DeleteManifest(ctx, found.ID, string(k.Folder), k.Manifest)
	})
	if err == nil && !at.forPrograms() {
		t.printf("manifest %s/%s removed\n", k.Folder, k.Manifest)
	}
	return err
}
