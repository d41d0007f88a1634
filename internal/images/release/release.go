// Package release reads OpenShift releases from their registries: what a release is
// made of, and its installer, which is extracted once, cached and run to generate the
// configs of a cluster (docs/reference/ignition.md, "Files of an installation").
package release

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/sync/singleflight"

	"slipway/internal/images/release/signature"
	"slipway/internal/platform/filelock"
	"slipway/internal/platform/userids"
)

// Options are the limits and surroundings of Releases; a zero field gets the default
// named beside it.
type Options struct {
	// PlainHTTP lists registries, as host:port, that are read without TLS. No other
	// registry ever is, whatever its address.
	PlainHTTP []string
	// Mirrors are asked for images before their source.
	Mirrors []Mirror
	// TrustBundles are certificate authorities in PEM that registries are trusted by, besides the machine's.
	TrustBundles []string
	// Dial opens connections to registries, and to where they send us; nil: as the default transport does.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Proxy chooses the proxy of a request; nil: by the environment.
	Proxy func(*http.Request) (*url.URL, error)
	// Transport reaches the registries; it brings proxies and certificate authorities.
	Transport http.RoundTripper // http.DefaultTransport with Dial and Proxy that trusts TrustBundles
	// Architecture of the machine this runs on, as Go names it: the installer must run here.
	Architecture string // required
	// CacheLimit is how many bytes of installers are kept; those unused longest go first.
	CacheLimit int64 // 10 GiB
	// InstallerLimit is the largest installer taken, in bytes.
	InstallerLimit int64 // 2 GiB
	// PullTimeout bounds the download of one installer.
	PullTimeout time.Duration // 30 minutes
	// RunTimeout bounds one generation.
	RunTimeout time.Duration // 10 minutes
	// Runs is how many installers run at a time; each is busy with one processor.
	Runs int64 // one for each processor of this process
	// Environment is added to the installer's, KEY=value.
	Environment []string
	// User runs the installers, for a process of root: without its files, keys and sockets in reach. nil: the
	// user of the process.
	User *User
	// Users leases another user to each run, instead of User; nil: all runs have the same.
	Users *userids.Pool
	// Sandbox keeps installers from everything but their folder; Readable are more files and folders that they may read.
	Sandbox  Sandbox
	Readable []string
	// Signatures say how releases are verified; stores are reached by Transport.
	Signatures signature.Options // none is
	// HostFIPS: the machine this runs on is in FIPS mode, which clusters in FIPS mode require.
	HostFIPS bool
	Now      func() time.Time // required
}

func (o Options) withDefaults() Options {
	o.CacheLimit = orDefault(o.CacheLimit, 10<<30)
	o.InstallerLimit = orDefault(o.InstallerLimit, 2<<30)
	o.PullTimeout = orDefault(o.PullTimeout, 30*time.Minute)
	o.RunTimeout = orDefault(o.RunTimeout, 10*time.Minute)
	o.Runs = orDefault(o.Runs, int64(runtime.GOMAXPROCS(0)))
	return o
}

func orDefault[T int64 | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

// Releases reads releases and keeps installers in a folder. It is safe for concurrent
// use, and several processes may share a folder.
type Releases struct {
	opts       Options
	transport  http.RoundTripper
	signatures *signature.Verifier
	cache      *cache
	work       string // folders of running installers
	workLock   string
	downloads  singleflight.Group
	runs       chan struct{} // installers that run
	stop       context.CancelFunc
	running    context.Context // ends with Close

	mu       sync.Mutex
	infos    map[string]Info   // by digest
	verified map[string]string // who signed a release, by digest
}

// Open returns releases that keep their installers below dir, which other users cannot list. Without
// Options.User it is private to the user of the process.
// Leftovers of a killed process are removed, unless another process uses the folder.
func Open(dir string, opts Options) (*Releases, error) {
	if opts.Architecture == "" || opts.Now == nil {
		return nil, fmt.Errorf("open release cache: require an architecture and a clock")
	}
	opts = opts.withDefaults()
	if opts.Transport == nil {
		var err error
		if opts.Transport, err = trusting(opts); err != nil {
			return nil, fmt.Errorf("open release cache: %w", err)
		}
	}
	if opts.Users != nil { // stands for all where its number does not count
		opts.User = &User{UID: opts.Users.First(), GID: opts.Users.First()}
	}
	opts.Signatures.Transport, opts.Signatures.Now = opts.Transport, opts.Now
	r := &Releases{
		opts:       opts,
		transport:  &plainHTTPGuard{next: opts.Transport, allowed: opts.PlainHTTP},
		signatures: signature.New(opts.Signatures),
		cache:      &cache{dir: filepath.Join(dir, "installers"), limit: opts.CacheLimit, now: opts.Now, mode: opts.User.programMode()},
		work:       filepath.Join(dir, "work"),
		workLock:   filepath.Join(dir, "work.lock"),
		runs:       make(chan struct{}, opts.Runs),
		infos:      map[string]Info{},
		verified:   map[string]string{},
	}
	mode := opts.User.folderMode()
	for _, d := range []string{dir, r.cache.dir, r.work} {
		if err := errors.Join(os.MkdirAll(d, mode), os.Chmod(d, mode)); err != nil {
			return nil, fmt.Errorf("open release cache: %w", err)
		}
	}
	if err := opts.User.canEnter(r.work); err != nil {
		return nil, fmt.Errorf("open release cache: %w", err)
	}
	if err := r.sweep(); err != nil {
		return nil, fmt.Errorf("sweep release cache: %w", err)
	}
	r.running, r.stop = context.WithCancel(context.Background())
	return r, nil
}

// Close ends running downloads. Running installers end with their own context.
func (r *Releases) Close() { r.stop() }

// sweep empties the work folder when no process uses it: folders in it hold secrets.
func (r *Releases) sweep() error {
	lock, err := filelock.Try(r.workLock, 0o600)
	if lock == nil {
		return err
	}
	defer lock.Release()
	entries, err := os.ReadDir(r.work)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(r.work, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// remoteOptions returns the options for a registry with a pull secret.
func (r *Releases) remoteOptions(ctx context.Context, keys keychain) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx),
		remote.WithTransport(r.transport),
		remote.WithAuthFromKeychain(keys),
		remote.WithPlatform(platform(r.opts.Architecture)),
		remote.WithUserAgent("slipway"),
	}
}
