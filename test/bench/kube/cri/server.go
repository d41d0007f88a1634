// Package cri is a container runtime for hosts of the bench, which have no images: a
// container of an image whose program is known runs as a process of the host, all others
// do nothing until they are stopped. Pods share the host's network.
package cri

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Options say what a server runs.
type Options struct {
	// Root is the folder that containers are kept in, over restarts.
	Root string
	// Programs by image: its whole reference, or the last part of its path without tag.
	Programs map[string]string
	// Container is the command that runs container.Run with the folder that is added to it.
	Container []string
	// Boot names the time from one start of the host to the next; nothing runs over it.
	Boot string
	Now  func() time.Time
	Log  *slog.Logger
}

// Server answers a kubelet.
type Server struct {
	runtime.UnimplementedRuntimeServiceServer
	runtime.UnimplementedImageServiceServer
	o Options

	mu         sync.Mutex
	sandboxes  map[string]*sandbox
	containers map[string]*instance
}

// New returns a server with the pods and containers that are in its folder.
func New(o Options) (*Server, error) {
	if len(o.Container) == 0 || o.Root == "" || o.Boot == "" || o.Now == nil {
		return nil, fmt.Errorf("require a folder, the name of a boot, a clock and a command for containers, found %+v", o)
	}
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return nil, err
	}
	o.Root, o.Log = root, cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Server{o: o, sandboxes: map[string]*sandbox{}, containers: map[string]*instance{}}
	for _, folder := range []string{s.folder("sandboxes"), s.folder("containers")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
	}
	return s, s.load()
}

// Register offers both services of the interface.
func (s *Server) Register(to grpc.ServiceRegistrar) {
	runtime.RegisterRuntimeServiceServer(to, s)
	runtime.RegisterImageServiceServer(to, s)
}

func (s *Server) folder(parts ...string) string {
	return filepath.Join(append([]string{s.o.Root}, parts...)...)
}

// newID makes a name that no other pod or container has, in the form of other runtimes.
func newID() string {
	var id [32]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// matches reports whether labels have all that is asked for.
func matches(labels, wanted map[string]string) bool {
	for name, value := range wanted {
		if labels[name] != value {
			return false
		}
	}
	return true
}
