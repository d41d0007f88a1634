package release

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"slipway/internal/images/release/signature"
	"slipway/internal/model"
)

// Installer is the installer of a release, ready to run. Release it with Close, or the cache keeps it
// indefinitely.
type Installer struct {
	Release Info

	program  *program
	releases *Releases
}

// Installer downloads the installer of a release that suits a cluster, once its signature is good where one is
// required. Concurrent callers wait for one download; it continues when they
// give up. Errors are as for Info, and a model.ErrUnprocessable when the release has no installer that runs on this machine.
func (r *Releases) Installer(ctx context.Context, n Need) (*Installer, error) {
	info, err := r.Info(ctx, n.Image, n.PullSecret)
	if err != nil {
		return nil, err
	}
	if err := checkVersion(info, n); err != nil {
		return nil, err
	}
	if r.signatures.Policy() == signature.Require {
		if _, err := r.verify(ctx, info, n.PullSecret); err != nil {
			return nil, err
		}
	}
	b, err := r.choose(info, n)
	if err != nil {
		return nil, err
	}
	source, err := info.Component(b.component)
	if err != nil {
		return nil, err
	}
	_, digest, ok := strings.Cut(source, "@sha256:")
	if !ok {
		return nil, model.Invalidf("require images by digest in release %s, found %s", info.Version, source)
	}
	name := digest + "-" + b.cached
	// A program can be evicted between its download and its use, but not indefinitely.
	for range 3 {
		p, err := r.cache.get(ctx, name)
		if err != nil {
			return nil, err
		}
		if p != nil {
			return &Installer{Release: info, program: p, releases: r}, nil
		}
		if err := r.fetchOnce(ctx, name, source, b.path, n.PullSecret); err != nil {
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
	return r.read(ctx, "extract installer from", source, pullSecret, func(f found) error {
		err := r.cache.add(ctx, name, func(to io.Writer) error {
			return findFile(f, path, func(h *tar.Header, data io.Reader) error {
				if h.Size > r.opts.InstallerLimit {
					return model.Unprocessablef("require an installer of at most %d bytes, found %d", r.opts.InstallerLimit, h.Size)
				}
				_, err := io.Copy(to, data)
				return err
			})
		})
		if errors.Is(err, errNoFile) {
			return model.Invalidf("installer image %s does not contain %s", source, path)
		}
		return err
	})
}
