package api

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
	"slipway/internal/images/osimages"
	"slipway/internal/images/remaster"
	"slipway/internal/images/remaster/layout"
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

// imageEntry is a config with the image that was made of it last.
type imageEntry struct {
	config *imageConfig
	mu     sync.Mutex
	built  *builtImage
}

// image gives the image over a system; it is made once.
func (e *imageEntry) image(system *osimages.Image, build func(*imageConfig) (*builtImage, error)) (*builtImage, error) {
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

// buildOrder is what an image is made of.
type buildOrder struct {
	artifact, version string
	config            *imageConfig
}

// How many minimal images without a config, and programs of systems, are kept: as many as
// a site has versions and architectures in use. A program has some 8 MB packed.
const (
	preparedEntries = 32
	programEntries  = 8
)

// preparedKey tells minimal images without a config apart.
type preparedKey struct {
	systemID, rootfsURL string
	nmstate             bool
}

// imageBuilder makes images. What all images of a system have in common is made once.
type imageBuilder struct {
	baseURL  string
	log      *slog.Logger
	prepared *recent[preparedKey, *remaster.Minimal]
	programs *recent[string, []byte]
	flights  singleflight.Group
}

func newImageBuilder(baseURL string, log *slog.Logger) *imageBuilder {
	return &imageBuilder{
		baseURL:  baseURL,
		log:      log,
		prepared: newRecent[preparedKey, *remaster.Minimal](preparedEntries, 1<<30),
		programs: newRecent[string, []byte](programEntries, 1<<30),
	}
}

func (b *imageBuilder) build(ctx context.Context, system *osimages.Image, o buildOrder) (*builtImage, error) {
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

func (b *imageBuilder) layout(ctx context.Context, system *osimages.Image, o buildOrder) (*layout.Layout, error) {
	parts := o.config.parts
	if o.artifact != artifactMinimal && o.artifact != artifactInitrd {
		return system.Base.Full(parts)
	}
	// Only hosts with network settings apply any before they have their root file system.
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

// minimal is the minimal image of a system before a config is laid over it.
func (b *imageBuilder) minimal(ctx context.Context, system *osimages.Image, program []byte) (*remaster.Minimal, error) {
	// The version is that of the system, not the one asked for: a system that is added later
	// must not serve its files to machines that boot this one.
	query := url.Values{"arch": {system.CPUArchitecture}, "version": {system.OpenShiftVersion}}
	address := b.baseURL + "/boot-artifacts/rootfs?" + query.Encode()
	key := preparedKey{system.ID, address, len(program) > 0}
	return once(ctx, &b.flights, b.prepared, key, func() (*remaster.Minimal, error) {
		file, err := system.Open()
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return system.Base.Minimal(file, remaster.MinimalOptions{RootfsURL: address, Nmstatectl: program})
	})
}

// program is nmstatectl of a system, packed; nothing where it cannot be taken out, because
// the ramdisk has connections for that case. Taking it out of the root file system takes
// seconds.
func (b *imageBuilder) program(ctx context.Context, system *osimages.Image) ([]byte, error) {
	return once(ctx, &b.flights, b.programs, system.ID, func() ([]byte, error) {
		file, err := system.Open()
		if err != nil {
			return nil, err
		}
		defer file.Close()
		program, err := remaster.Nmstatectl(file, system.Base)
		if err != nil {
			b.log.WarnContext(ctx, "nmstatectl not taken out of an image: hosts that fetch their root file system get connections made by the service",
				"openshift_version", system.OpenShiftVersion, "architecture", system.CPUArchitecture, "error", err)
		}
		return program, nil
	})
}

// once makes a value for all who want it at the same time, and keeps it. The work goes on
// when those who wait have gone: they come again.
func once[K comparable, V any](ctx context.Context, flights *singleflight.Group, known *recent[K, V], key K, make func() (V, error)) (out V, err error) {
	if out, found := known.get(key); found {
		return out, nil
	}
	return together(ctx, flights, fmt.Sprintf("%T %v", key, key), func() (V, error) {
		value, err := make()
		if err == nil {
			known.put(key, value, 0)
		}
		return value, err
	})
}

// together does work once for all who want it at the same time, and lets those go who
// cannot wait.
func together[V any](ctx context.Context, flights *singleflight.Group, key string, work func() (V, error)) (out V, err error) {
	done := flights.DoChan(key, func() (result any, err error) {
		defer func() {
			if p := recover(); p != nil { // nobody above would: it is a goroutine of its own
				err = fmt.Errorf("%w: %v\n%s", errPanicked, p, debug.Stack())
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

// imageTag is the ETag of an image: a digest of all that its bytes come from. The same
// bytes have the same tag in every process, and no others have it.
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
