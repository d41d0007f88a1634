// Package payload serves releases of OpenShift that hold nothing but what an
// installation reads of them: the list of images, and an installer that is a stand-in
// (package standin). The registry is a real one, in this process, on loopback
// or where the caller listens.
package payload

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Options say what is served.
type Options struct {
	// Address to listen on; empty means any free port of 127.0.0.1. Releases name their
	// images by it, so releases live as long as their address.
	Address string
	// Listener is listened on instead where it is set: one in a network namespace that only
	// machines of a bench are in, where Dial gets to. Payload closes it.
	Listener net.Listener
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	// Name is the registry that releases name their images by, where it is not the address: a source of which only mirrors can be reached.
	Name string
	// Versions are the releases to serve, like "4.20.33" or, of OKD, "4.20.0-okd-scos.13".
	Versions []string
	// Architecture of the releases as Go names it: amd64, arm64, ppc64le, s390x.
	Architecture string
	// HostArchitecture is the architecture of the machine the installer runs on; empty: the releases'. Programs for
	// another one cannot be run.
	HostArchitecture string
	// HostFIPS says that the installer takes its machine for one in FIPS mode.
	HostFIPS bool
	// InstallerCommand is the program, by its whole path, and first arguments that stand
	// in for openshift-install; it must call standin.Main with the arguments that follow.
	InstallerCommand []string
	// User and Password protect the registry when they are not empty.
	User, Password string
	Log            *slog.Logger // nil: no log
}

// Payload is a running registry.
type Payload struct {
	address  string
	name     string // of the registry, in names of images
	server   *http.Server
	releases map[string]string
	ended    chan error
}

// Serve starts a registry and fills it. Close it; the end of ctx stops only the filling.
func Serve(ctx context.Context, opts Options) (*Payload, error) {
	if len(opts.InstallerCommand) == 0 {
		return nil, errors.New("an installer command is required")
	}
	listener, err := listen(ctx, opts)
	if err != nil {
		return nil, err
	}
	p := &Payload{
		address: listener.Addr().String(),
		server: &http.Server{
			Handler:           protect(registry.New(registry.Logger(logger(opts.Log))), opts),
			ReadHeaderTimeout: 10 * time.Second,
		},
		releases: map[string]string{},
		ended:    make(chan error, 1),
	}
	p.name = cmp.Or(opts.Name, p.address)
	go func() { p.ended <- p.server.Serve(listener) }()
	for _, version := range opts.Versions {
		image, err := p.publish(ctx, version, opts)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("publish release %s: %w", version, err), p.Close())
		}
		p.releases[version] = image
	}
	return p, nil
}

// Address returns host:port of the registry.
func (p *Payload) Address() string { return p.address }

// ReleaseImage returns the release of a version, by tag; empty when it is not served.
func (p *Payload) ReleaseImage(version string) string { return p.releases[version] }

// Close stops the registry; what it held is gone.
func (p *Payload) Close() error {
	err := p.server.Close()
	if served := <-p.ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	p.ended <- http.ErrServerClosed // Close may be called again
	return err
}

func listen(ctx context.Context, opts Options) (net.Listener, error) {
	if opts.Listener != nil {
		return opts.Listener, nil
	}
	address := cmp.Or(opts.Address, "127.0.0.1:0")
	a, err := netip.ParseAddrPort(address)
	if err != nil || !a.Addr().IsLoopback() {
		return nil, fmt.Errorf("require a loopback address and port, found %q", address)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("start release registry: %w", err)
	}
	return listener, nil
}

func logger(to *slog.Logger) *log.Logger {
	if to == nil {
		return log.New(io.Discard, "", 0)
	}
	return slog.NewLogLogger(to.Handler(), slog.LevelDebug)
}

// protect asks for the user and password of the options, if any.
func protect(next http.Handler, opts Options) http.Handler {
	if opts.User == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if subtle.ConstantTimeCompare([]byte(user+"\x00"+password), []byte(opts.User+"\x00"+opts.Password)) != 1 {
			w.Header().Set("WWW-Authenticate", `Basic realm="release registry"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED"}]}`, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
