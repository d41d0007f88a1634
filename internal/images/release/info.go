package release

import (
	"archive/tar"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"slipway/internal/model"
)

const (
	// referencesPath is the list of a release's images, in the release image.
	referencesPath = "release-manifests/image-references"
	// maxReferences bounds it, in bytes; it is some 100 KB in 4.20.
	maxReferences = 16 << 20
	// keptInfos bounds how many releases are remembered.
	keptInfos = 64
)

// Info lists the images of a release.
type Info struct {
	Image        string            // as requested
	PullSpec     string            // the same by its digest, as hosts and the cluster pull it
	Digest       string            // sha256:... of the image for one architecture; PullSpec can name a list of them
	Version      string            // like 4.20.33
	Architecture string            // as Go names it
	Images       map[string]string // by component: machine-config-operator, must-gather, ...
}

// Component returns the image of a component, by digest; model.ErrNotFound when the
// release has none of that name.
func (i Info) Component(name string) (string, error) {
	image, ok := i.Images[name]
	if !ok {
		return "", model.NotFoundf("release %s has no image of %s", i.Version, name)
	}
	return image, nil
}

// Info reads which images a release consists of. It returns a model.ErrNotFound when the image does not exist,
// a model.ErrUnprocessable when the registry does not accept the pull secret, and a model.ErrInvalid when the
// image is not a release.
func (r *Releases) Info(ctx context.Context, image string, pullSecret model.Secret) (Info, error) {
	var info Info
	err := r.read(ctx, "read release image", image, pullSecret, func(f found) error {
		digest, err := f.Digest()
		if err != nil {
			return err
		}
		known, ok := r.known(digest.String())
		if !ok {
			if known, err = readInfo(f); err != nil {
				return err
			}
			known.Architecture = cmp.Or(known.Architecture, r.opts.Architecture)
			known.Digest = digest.String()
			r.remember(known)
		}
		info = known
		info.PullSpec = pullSpec(image, f.digest)
		return nil
	})
	if err != nil {
		return Info{}, err
	}
	info.Image = image
	info.Images = maps.Clone(info.Images)
	return info, nil
}

func (r *Releases) known(digest string) (Info, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	info, ok := r.infos[digest]
	return info, ok
}

func (r *Releases) remember(info Info) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.infos) >= keptInfos {
		clear(r.infos) // reading one again costs a second
	}
	r.infos[info.Digest] = info
}

// imageStream is the relevant part of image-references.
type imageStream struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Tags []struct {
			Name string `json:"name"`
			From struct {
				Name string `json:"name"`
			} `json:"from"`
		} `json:"tags"`
	} `json:"spec"`
}

func readInfo(image v1.Image) (Info, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return Info{}, err
	}
	var stream imageStream
	err = findFile(image, referencesPath, func(_ *tar.Header, data io.Reader) error {
		return json.NewDecoder(io.LimitReader(data, maxReferences)).Decode(&stream)
	})
	if errors.Is(err, errNoFile) {
		return Info{}, model.Invalidf("not a release image: %s is missing", referencesPath)
	}
	if err != nil {
		return Info{}, fmt.Errorf("read %s: %w", referencesPath, err)
	}
	if stream.Kind != "ImageStream" || stream.Metadata.Name == "" {
		return Info{}, model.Invalidf("not a release image: %s is not a list of images", referencesPath)
	}
	info := Info{Version: stream.Metadata.Name, Architecture: config.Architecture, Images: map[string]string{}}
	for _, tag := range stream.Spec.Tags {
		info.Images[tag.Name] = tag.From.Name
	}
	return info, nil
}

// Components lists the names of a release's images in order.
func (i Info) Components() []string { return slices.Sorted(maps.Keys(i.Images)) }
