package release

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"slipway/internal/model"
)

// binary is one of the programs a release generates configs with.
type binary struct {
	component string // image that holds it
	path      string // in the image
}

var (
	plainInstaller     = binary{"installer", "usr/bin/openshift-install"}
	bareMetalInstaller = binary{"baremetal-installer", "usr/bin/openshift-baremetal-install"}
)

// binaryFor returns the program for a platform: before 4.16 the plain installer does not support bare metal.
func binaryFor(platform, version string) binary {
	v, err := semver.NewVersion(version)
	if platform == "baremetal" && err == nil && v.Major() == 4 && v.Minor() < 16 {
		return bareMetalInstaller
	}
	return plainInstaller
}

// Installer is the installer of a release, ready to run. Release it with Close, or the cache keeps it
// indefinitely.
type Installer struct {
	Release Info

	program  *program
	releases *Releases
}

// Installer downloads the installer of a release for a platform (baremetal, none, ...). Concurrent callers wait
// for one download; it continues when they give up. Errors are those of Info.
func (r *Releases) Installer(ctx context.Context, image, platform string, pullSecret model.Secret) (*Installer, error) {
	info, err := r.Info(ctx, image, pullSecret)
	if err != nil {
		return nil, err
	}
	b := binaryFor(platform, info.Version)
	source, err := info.Component(b.component)
	if err != nil {
		return nil, err
	}
	_, digest, ok := strings.Cut(source, "@sha256:")
	if !ok {
		return nil, model.Invalidf("require images by digest in release %s, found %s", info.Version, source)
	}
	name := digest + "-" + b.path[strings.LastIndexByte(b.path, '/')+1:]
	// A program can be evicted between its download and its use, but not indefinitely.
	for range 3 {
		p, err := r.cache.get(ctx, name)
		if err != nil {
			return nil, err
		}
		if p != nil {
			return &Installer{Release: info, program: p, releases: r}, nil
		}
		if err := r.fetchOnce(ctx, name, source, b.path, pullSecret); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("keep installer of release %s: the cache is too small: %w", info.Version, model.ErrUnavailable)
}

// Close lets the cache evict the installer again.
func (i *Installer) Close() { i.program.release() }

// fetchOnce joins a running download of the program, or starts one.
func (r *Releases) fetchOnce(ctx context.Context, name, source, path string, pullSecret model.Secret) error {
	// A caller with another pull secret must not fail because of this one's.
	key := fmt.Sprintf("%s %x", name, sha256.Sum256([]byte(pullSecret.Reveal())))
	done := r.downloads.DoChan(key, func() (any, error) { //nolint:contextcheck // the download outlives the caller who began it
		// Not the context of the caller: others wait for the same download.
		ctx, cancel := context.WithTimeout(r.running, r.opts.PullTimeout)
		defer cancel()
		return nil, r.fetch(ctx, name, source, path, pullSecret)
	})
	select {
	case result := <-done:
		return result.Err
	case <-ctx.Done():
		return fmt.Errorf("wait for installer %s: %w", source, context.Cause(ctx))
	}
}

func (r *Releases) fetch(ctx context.Context, name, source, path string, pullSecret model.Secret) error {
	keys, err := newKeychain(pullSecret)
	if err != nil {
		return err
	}
	ref, err := r.parse(source)
	if err != nil {
		return err
	}
	image, err := remote.Image(ref, r.remoteOptions(ctx, keys)...)
	if err != nil {
		return explain("read installer image", source, err)
	}
	err = r.cache.add(ctx, name, func(to io.Writer) error {
		return findFile(image, path, func(h *tar.Header, data io.Reader) error {
			if h.Size > r.opts.InstallerLimit {
				return model.Unprocessablef("require an installer of at most %d bytes, found %d", r.opts.InstallerLimit, h.Size)
			}
			_, err := io.Copy(to, data)
			return err
		})
	})
	if errors.Is(err, errNoFile) {
		return model.Invalidf("require %s in installer image %s, found none", path, source)
	}
	if err != nil {
		return explain("extract installer from", source, err)
	}
	return nil
}
