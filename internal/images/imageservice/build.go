package imageservice

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net/url"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"slipway/internal/hostconfig/staticnet"
	"slipway/internal/images/liveisos"
	"slipway/internal/images/remaster"
	"slipway/internal/images/remaster/layout"
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/lru"
	"slipway/internal/wire"
)

const artifactMinimal = string(wire.ImageTypeMinimalIso)

// builtImage is an image that can be sent.
type builtImage struct {
	systemID string
	layout   *layout.Layout
	etag     string
	modified time.Time
}

// cachedImage is a configuration with the image last made from it.
type cachedImage struct {
	config *imageConfig
	mu     sync.Mutex
	built  *builtImage
}

// image returns the image for a system, and makes it once.
func (e *cachedImage) image(system *liveisos.Image, build func(*imageConfig) (*builtImage, error)) (*builtImage, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.built != nil && e.built.systemID == system.ID {
		return e.built, nil
	}
	built, err := build(e.config)
	if err == nil {
		e.built = built
	}
	return built, err
}

// buildOrder lists the sources of an image.
type buildOrder struct {
	artifact, version string
	config            *imageConfig
}

// How many minimal images without a configuration, and nmstatectl programs, are kept: as many as a site has versions
// and architectures in use. A program has about 8 MB, compressed.
const (
	preparedEntries = 32
	programEntries  = 8
)

// preparedKey identifies a minimal image without a configuration.
type preparedKey struct {
	systemID, rootfsURL string
	nmstate             bool
}

// imageBuilder makes images. It makes the common part of all images of a system once.
type imageBuilder struct {
	baseURL  string
	log      *slog.Logger
	prepared *lru.Cache[preparedKey, *remaster.Minimal]
	programs *lru.Cache[string, []byte]
	flights  singleflight.Group
}

func newImageBuilder(baseURL string, log *slog.Logger) *imageBuilder {
	return &imageBuilder{
		baseURL:  baseURL,
		log:      log,
		prepared: lru.New[preparedKey, *remaster.Minimal](preparedEntries, 1<<30),
		programs: lru.New[string, []byte](programEntries, 1<<30),
	}
}

func (b *imageBuilder) build(ctx context.Context, system *liveisos.Image, o buildOrder) (*builtImage, error) {
	l, err := b.layout(ctx, system, o)
	if err != nil {
		return nil, err
	}
	out := &builtImage{systemID: system.ID, layout: l, etag: imageTag(system.ID, l), modified: o.config.modified}
	if system.Modified.After(out.modified) {
		out.modified = system.Modified
	}
	return out, nil
}

func (b *imageBuilder) layout(ctx context.Context, system *liveisos.Image, o buildOrder) (*layout.Layout, error) {
	parts := o.config.parts
	if o.artifact != artifactMinimal && o.artifact != artifactInitrd {
		return system.Base.Full(parts)
	}
	// Only hosts with static network settings need nmstatectl before they have the root file system.
	if len(parts.Ramdisk) > 0 && staticnet.MethodFor(o.version) == staticnet.MethodNMState {
		program, err := b.program(ctx, system)
		if err != nil {
			return nil, err
		}
		parts.Nmstatectl = program
	}
	if o.artifact == artifactInitrd {
		return system.Base.PXEInitrd(parts)
	}
	minimal, err := b.minimal(ctx, system, parts.Nmstatectl)
	if err != nil {
		return nil, err
	}
	return minimal.With(parts)
}

// minimal returns the minimal image of a system without a configuration.
func (b *imageBuilder) minimal(ctx context.Context, system *liveisos.Image, program []byte) (*remaster.Minimal, error) {
	// The version is the system's, not the requested one: machines that boot this image must not get the root file system of a system that
	// is added later.
	query := url.Values{"arch": {system.CPUArchitecture}, "version": {system.OpenShiftVersion}}
	address := b.baseURL + "/boot-artifacts/rootfs?" + query.Encode()
	key := preparedKey{system.ID, address, len(program) > 0}
	return buildOnce(ctx, &b.flights, b.prepared, key, func() (*remaster.Minimal, error) {
		file, err := system.Open()
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return system.Base.Minimal(file, remaster.MinimalOptions{RootfsURL: address, Nmstatectl: program})
	})
}

// program returns nmstatectl of a system, compressed; nothing when it cannot be extracted, because the ramdisk then has
// connection files of its own. Extracting it from the root file system takes seconds.
func (b *imageBuilder) program(ctx context.Context, system *liveisos.Image) ([]byte, error) {
	return buildOnce(ctx, &b.flights, b.programs, system.ID, func() ([]byte, error) {
		file, err := system.Open()
		if err != nil {
			return nil, err
		}
		defer file.Close()
		program, err := remaster.Nmstatectl(file, system.Base)
		if err != nil {
			b.log.WarnContext(
				ctx,
				"nmstatectl not extracted from an image: hosts that fetch their root file system get connection files of the service",
				"openshift_version",
				system.OpenShiftVersion,
				"architecture",
				system.CPUArchitecture,
				"error",
				err,
			)
		}
		return program, nil
	})
}

// buildOnce makes a value once for all requests that need it at the same time, and keeps it. The work continues when
// the requests are canceled, because clients retry.
func buildOnce[K comparable, V any](
	ctx context.Context, flights *singleflight.Group, known *lru.Cache[K, V], key K, make func() (V, error),
) (out V, err error) {
	if out, found := known.Get(key); found {
		return out, nil
	}
	return shared(ctx, flights, fmt.Sprintf("%T %v", key, key), func() (V, error) {
		value, err := make()
		if err == nil {
			known.Put(key, value, 0)
		}
		return value, err
	})
}

// shared does work once for all requests that need it at the same time; each waits no longer than its context.
func shared[V any](ctx context.Context, flights *singleflight.Group, key string, work func() (V, error)) (out V, err error) {
	done := flights.DoChan(key, func() (result any, err error) {
		defer func() {
			if p := recover(); p != nil { // it runs in its own goroutine, where no caller recovers
				err = fmt.Errorf("%w: %v\n%s", httpapi.ErrPanicked, p, debug.Stack())
			}
		}()
		return work()
	})
	select {
	case result := <-done:
		if result.Err != nil {
			return out, result.Err
		}
		return result.Val.(V), nil
	case <-ctx.Done():
		return out, ctx.Err()
	}
}

// imageTag returns the ETag of an image: a digest of everything its bytes are made from. Equal images have the same
// tag in every process.
func imageTag(systemID string, l *layout.Layout) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n", systemID)
	for _, p := range l.Pieces() {
		head := binary.BigEndian.AppendUint64([]byte{'d'}, uint64(p.Length)) //nolint:gosec // a length
		switch {
		case p.Zeros:
			head[0] = 'z'
		case p.Data == nil:
			head[0] = 'b'
			head = binary.BigEndian.AppendUint64(head, uint64(p.Offset)) //nolint:gosec // an offset in a file
		}
		_, _ = hash.Write(head)
		_, _ = hash.Write(p.Data)
	}
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:20])
}
