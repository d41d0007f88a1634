package oci

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Options are the inputs of images.
type Options struct {
	Lock  *Lock
	Cache *Cache
	// Services maps the architectures of the images to their program slipway.
	Services map[string]string
	// Programs is the folder of slipway-agent-ARCHITECTURE and slipway-controller-ARCHITECTURE.
	Programs string
	// Version is the build id of slipway, Revision its commit and Created the time of that.
	Version, Revision string
	Created           time.Time
	// Architectures of the images, in their order in the index.
	Architectures []string
}

// Tag returns the version as a tag, in which no plus sign may be (https://github.com/opencontainers/distribution-spec, "Pulling
// manifests").
func (o Options) Tag() string { return strings.ReplaceAll(o.Version, "+", "-") }

// Build writes an image for all architectures into a folder, as an OCI image layout, and returns the digest of its index.
func Build(ctx context.Context, image Image, o Options, folder string) (v1.Hash, error) {
	work, err := os.MkdirTemp("", "slipway-image-")
	if err != nil {
		return v1.Hash{}, fmt.Errorf("keep layers: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	labels := image.labels(o)
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, architecture := range o.Architectures {
		built, err := build(ctx, image, o, architecture, filepath.Join(work, architecture))
		if err != nil {
			return v1.Hash{}, fmt.Errorf("build %s for %s: %w", image.Name, architecture, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: built, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}},
		})
	}
	index, _ = mutate.Annotations(index, labels).(v1.ImageIndex)
	if err := os.RemoveAll(folder); err != nil {
		return v1.Hash{}, fmt.Errorf("replace image: %w", err)
	}
	written, err := layout.Write(folder, empty.Index)
	if err != nil {
		return v1.Hash{}, fmt.Errorf("write image: %w", err)
	}
	if err := written.AppendIndex(index, layout.WithAnnotations(image.names(o))); err != nil {
		return v1.Hash{}, fmt.Errorf("write image: %w", err)
	}
	return index.Digest()
}

// names returns what the image is called after it is loaded: by podman, and by containerd and Docker.
func (i Image) names(o Options) map[string]string {
	name := "localhost/" + i.Name + ":" + o.Tag()
	return map[string]string{"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name}
}

func (i Image) labels(o Options) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       i.Title,
		"org.opencontainers.image.description": i.Description,
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     o.Version,
		"org.opencontainers.image.revision":    o.Revision,
		"org.opencontainers.image.created":     o.Created.UTC().Format(time.RFC3339),
	}
}

// build makes the image for one architecture: a layer with Debian's files, which is the same for all commits with one lock, and a layer
// with Slipway's.
func build(ctx context.Context, image Image, o Options, architecture, work string) (v1.Image, error) {
	if systems[architecture].machine == 0 || o.Services[architecture] == "" {
		known := slices.Sorted(maps.Keys(systems))
		return nil, fmt.Errorf("require an architecture of %s with its program slipway", strings.Join(known, ", "))
	}
	system, own := tree{}, tree{}
	for _, p := range o.Lock.of(image.Name, architecture) {
		file, err := o.Cache.get(ctx, p, o.Lock.Time)
		if err != nil {
			return nil, err
		}
		if err := system.unpack(ctx, file, p); err != nil {
			return nil, err
		}
	}
	if err := system.configure(); err != nil {
		return nil, err
	}
	if err := own.programs(image, o.Services[architecture], o.Programs); err != nil {
		return nil, err
	}
	all := maps.Clone(system)
	maps.Copy(all, own)
	if err := all.requireComplete(architecture); err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for n, l := range []struct {
		files   tree
		at      time.Time
		comment string
	}{{system, o.Lock.Time, "packages of Debian"}, {own, o.Created, "Slipway " + o.Version}} {
		layer, err := l.files.layer(work+"-"+strconv.Itoa(n)+".tar.gz", l.at)
		if err != nil {
			return nil, err
		}
		history := v1.History{Created: v1.Time{Time: l.at.UTC()}, CreatedBy: "deploy/images", Comment: l.comment}
		if base, err = mutate.Append(base, mutate.Addendum{Layer: layer, History: history}); err != nil {
			return nil, fmt.Errorf("add layer: %w", err)
		}
	}
	return image.config(base, o, architecture)
}

// config gives an image its settings.
func (i Image) config(base v1.Image, o Options, architecture string) (v1.Image, error) {
	file, err := base.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = "linux", architecture, v1.Time{Time: o.Created.UTC()}
	ports := map[string]struct{}{}
	for _, port := range i.Ports {
		ports[strconv.Itoa(port)+"/tcp"] = struct{}{}
	}
	file.Config = v1.Config{
		User: fmt.Sprintf("%d:%[1]d", User), WorkingDir: "/", Env: []string{"PATH=/usr/bin"},
		Entrypoint: []string{"/usr/bin/slipway"}, Cmd: i.command(), ExposedPorts: ports,
		Volumes: map[string]struct{}{DataFolder: {}}, Labels: i.labels(o),
	}
	return mutate.ConfigFile(base, file)
}
