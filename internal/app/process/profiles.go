package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/pprof" //nolint:gosec // nothing serves http.DefaultServeMux, where it registers
	"os"
	"path/filepath"
	"time"
)

// profilesHeader is how long a client of profiles may take for its header.
const profilesHeader = 10 * time.Second

// ServeProfiles serves the profiles of the process (net/http/pprof, below /debug/pprof/) at a socket in the file system that its user and
// root may open, until stop is called. A socket that is there already, as after kill -9, is replaced; any other file is refused.
func ServeProfiles(path string) (stop func(), err error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != fs.ModeSocket {
		return nil, fmt.Errorf("serve profiles at %s: require a socket or nothing there, found another file", path)
	}
	listener, err := privateSocket(path)
	if err != nil {
		return nil, fmt.Errorf("serve profiles at %s: %w", path, err)
	}
	routes := http.NewServeMux()
	routes.HandleFunc("/debug/pprof/", pprof.Index)
	routes.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	routes.HandleFunc("/debug/pprof/profile", pprof.Profile)
	routes.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	routes.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := &http.Server{Handler: routes, ReadHeaderTimeout: profilesHeader}
	go func() { _ = server.Serve(listener) }()
	return func() { _ = errors.Join(server.Close(), os.Remove(path)) }, nil
}

// privateSocket listens at a path with mode 0600. The socket gets its mode in a folder that is closed to others, and then its name.
func privateSocket(path string) (net.Listener, error) {
	folder, err := os.MkdirTemp(filepath.Dir(path), ".profiles-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	begun := filepath.Join(folder, "s")
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", begun)
	if err != nil {
		return nil, err
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) //nolint:forcetypeassert // of "unix"
	if err := errors.Join(os.Chmod(begun, 0o600), os.Rename(begun, path)); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}
