package payload

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// distribution names the images of a real release and their repositories.
type distribution struct {
	releases, components string // repositories
	// system is the component with the operating system of nodes.
	system string
	// everyArchitecture: the tag of a release ends with its architecture.
	everyArchitecture bool
}

// Distributions by whether a version is one of OKD, whose nodes run CentOS Stream CoreOS (okd-project/okd, releases).
var (
	openShift = distribution{"openshift-release-dev/ocp-release", "openshift-release-dev/ocp-v4.0-art-dev", "rhel-coreos", true}
	okd       = distribution{"okd/scos-release", "okd/scos-content", "stream-coreos", false}
)

func distributionOf(version string) distribution {
	if strings.Contains(version, "-okd") {
		return okd
	}
	return openShift
}

// components are the other images that an installation names, beside the operating system.
var components = []string{
	"agent-installer-api-server", "agent-installer-csr-approver", "agent-installer-node-agent", "agent-installer-orchestrator",
	"cli", "cluster-version-operator", "console", "etcd", "hyperkube", "machine-config-operator", "machine-os-content", "must-gather",
}

// publish pushes a release and all its images, and returns the release image by tag.
func (p *Payload) publish(ctx context.Context, version string, opts Options) (string, error) {
	images := map[string]string{}
	for component, programs := range installers(version, opts) {
		ref, err := p.push(ctx, component, version, opts, programs, []file{{path: "etc/os-release", mode: 0o644, data: []byte("ID=rhel\n")}})
		if err != nil {
			return "", err
		}
		images[component] = ref
	}
	from := distributionOf(version)
	for _, component := range append(slices.Clone(components), from.system) {
		ref, err := p.push(ctx, component, version, opts, []file{{path: "etc/component", mode: 0o644, data: []byte(component + "\n")}})
		if err != nil {
			return "", err
		}
		images[component] = ref
	}
	manifests, err := releaseManifests(version, images)
	if err != nil {
		return "", err
	}
	tag := fmt.Sprintf("/%s:%s", from.releases, version)
	if from.everyArchitecture {
		tag += "-" + machine(opts.Architecture)
	}
	image, err := build(version, "release", opts.Architecture, []file{{path: "usr/bin/cluster-version-operator", mode: 0o755}}, manifests)
	if err != nil {
		return "", err
	}
	return p.name + tag, p.write(ctx, p.address+tag, image, opts)
}

// machine returns an architecture as release tags name it.
func machine(architecture string) string {
	if m, ok := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[architecture]; ok {
		return m
	}
	return architecture
}

// push stores the image of a component and returns it by digest.
func (p *Payload) push(ctx context.Context, component, version string, opts Options, layers ...[]file) (string, error) {
	image, err := build(version, component, opts.Architecture, layers...)
	if err != nil {
		return "", err
	}
	digest, err := image.Digest()
	if err != nil {
		return "", fmt.Errorf("hash image %s: %w", component, err)
	}
	ref := fmt.Sprintf("/%s@%s", distributionOf(version).components, digest)
	return p.name + ref, p.write(ctx, p.address+ref, image, opts)
}

func (p *Payload) write(ctx context.Context, to string, image v1.Image, opts Options) error {
	ref, err := name.ParseReference(to, name.Insecure)
	if err != nil {
		return fmt.Errorf("name image: %w", err)
	}
	auth := authn.Anonymous
	if opts.User != "" {
		auth = &authn.Basic{Username: opts.User, Password: opts.Password}
	}
	transport := remote.DefaultTransport
	if opts.Dial != nil {
		transport = &http.Transport{DialContext: opts.Dial}
	}
	if err := remote.Write(ref, image, remote.WithContext(ctx), remote.WithAuth(auth), remote.WithTransport(transport)); err != nil {
		return fmt.Errorf("push %s: %w", to, err)
	}
	return nil
}

// file is one of a layer.
type file struct {
	path string
	mode int64
	data []byte
}

// build makes an image out of layers. The same input makes the same image, byte by byte.
func build(version, component, architecture string, layers ...[]file) (v1.Image, error) {
	image := empty.Image
	for _, files := range layers {
		data, err := archive(files)
		if err != nil {
			return nil, fmt.Errorf("pack layer of %s: %w", component, err)
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
		if err != nil {
			return nil, fmt.Errorf("pack layer of %s: %w", component, err)
		}
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			return nil, fmt.Errorf("add layer to %s: %w", component, err)
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("configure image %s: %w", component, err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", architecture
	config.Config.Labels = map[string]string{"io.openshift.release": version, "io.openshift.build.name": component}
	return mutate.ConfigFile(image, config)
}

func archive(files []file) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{
			Typeflag: tar.TypeReg,
			Name:     f.path,
			Mode:     f.mode,
			Size:     int64(len(f.data)),
			ModTime:  time.Unix(0, 0),
			Format:   tar.FormatPAX,
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// releaseManifests makes the two documents that describe the content of a release (release-manifests/ of
// every release image).
func releaseManifests(version string, images map[string]string) ([]file, error) {
	tags := make([]map[string]any, 0, len(images))
	for _, component := range slices.Sorted(maps.Keys(images)) {
		tags = append(tags, map[string]any{
			"name": component, "annotations": map[string]string{"io.openshift.build.versions": ""},
			"from": map[string]string{"kind": "DockerImage", "name": images[component]},
		})
	}
	references, err := json.MarshalIndent(map[string]any{
		"kind": "ImageStream", "apiVersion": "image.openshift.io/v1",
		"metadata": map[string]any{"name": version}, "spec": map[string]any{"lookupPolicy": map[string]bool{"local": false}, "tags": tags},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write image references: %w", err)
	}
	metadata, err := json.MarshalIndent(map[string]any{
		"kind": "cincinnati-metadata-v0", "version": version, "previous": []string{}, "metadata": map[string]string{},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write release metadata: %w", err)
	}
	return []file{
		{path: "release-manifests/image-references", mode: 0o644, data: references},
		{path: "release-manifests/release-metadata", mode: 0o644, data: metadata},
	}, nil
}
