package cri

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/proto"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"slipway/test/bench/kube/container"
)

// recordFile describes a pod or a container in its folder.
const recordFile = "record.json"

// sandbox is a pod: a name for containers, as nothing of the host is taken apart for it.
type sandbox struct {
	ID      string
	Created int64 // nanoseconds since 1970, as the interface has it
	Boot    string
	Handler string
	Stopped bool
	Raw     []byte // Config

	Config *runtime.PodSandboxConfig `json:"-"`
}

// instance is a container.
type instance struct {
	ID      string
	Sandbox string
	Created int64
	Started int64  // 0 until it is
	Boot    string // that it was started in
	PID     int    // of container.Run; 0 for one that does nothing
	Raw     []byte // Config

	Config *runtime.ContainerConfig `json:"-"`
}

// load reads what an earlier server left.
func (s *Server) load() error {
	err := records(s.folder("sandboxes"), func(file string) error {
		one := &sandbox{Config: &runtime.PodSandboxConfig{}}
		if err := read(file, one, &one.Raw, one.Config); err != nil {
			return err
		}
		s.sandboxes[one.ID] = one
		return nil
	})
	if err != nil {
		return err
	}
	return records(s.folder("containers"), func(file string) error {
		one := &instance{Config: &runtime.ContainerConfig{}}
		if err := read(file, one, &one.Raw, one.Config); err != nil {
			return err
		}
		s.containers[one.ID] = one
		return nil
	})
}

// records reads the description of every folder. One without was about to be made or
// removed when the host lost its power.
func records(folder string, read func(file string) error) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		err := read(filepath.Join(folder, entry.Name(), recordFile))
		if errors.Is(err, os.ErrNotExist) {
			err = os.RemoveAll(filepath.Join(folder, entry.Name()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func read(file string, record any, raw *[]byte, config proto.Message) error {
	if err := container.ReadFile(file, record); err != nil {
		return err
	}
	if err := proto.Unmarshal(*raw, config); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

func (s *Server) saveSandbox(one *sandbox) error {
	return save(s.folder("sandboxes", one.ID), one, &one.Raw, one.Config)
}

func (s *Server) saveContainer(one *instance) error {
	return save(s.folder("containers", one.ID), one, &one.Raw, one.Config)
}

func save(folder string, record any, raw *[]byte, config proto.Message) error {
	packed, err := proto.Marshal(config)
	if err != nil {
		return err
	}
	*raw = packed
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return container.WriteFile(filepath.Join(folder, recordFile), record)
}
