// Package site holds what simulated machines of one place share: the network they answer on, its names, and
// where the API of their cluster is. All of it is files in one folder, written atomically, so that machines
// may be goroutines of one process or processes that are killed and started again.
package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Site is a folder shared by simulated machines.
type Site struct{ dir string }

// Cluster is the cluster the machines of a site become.
type Cluster struct {
	Name         string `json:"name"`
	Domain       string `json:"domain"`        // of the user: example.com
	ControlPlane int    `json:"control_plane"` // masters, 1 for a single node
	Version      string `json:"version"`       // of OpenShift
}

// Open makes the folder of a site unless it exists.
func Open(dir string) (*Site, error) {
	if err := os.MkdirAll(filepath.Join(dir, addressFolder), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of a site: %w", err)
	}
	return &Site{dir: dir}, nil
}

// Dir returns the folder of the site.
func (s *Site) Dir() string { return s.dir }

// SetCluster says what the machines become.
func (s *Site) SetCluster(c Cluster) error { return s.write("cluster.json", c) }

// Cluster returns the cluster that the machines become; ControlPlane is 1 by default.
func (s *Site) Cluster() (Cluster, error) {
	c := Cluster{ControlPlane: 1}
	return c, s.read("cluster.json", &c)
}

const (
	apiFile      = "kube-api.json"
	startFile    = "control-plane.json"
	leaveFile    = "left.json"
	handOverFile = "handed-over.json"
)

// ControlPlane is one life of the cluster's control plane: an installation that begins
// anew begins a new one.
type ControlPlane struct {
	Life string `json:"life"`
	URL  string `json:"url,omitempty"`
}

// StartControlPlane begins a life of the control plane, by name: the temporary one of a bootstrap host comes up. A repeated life changes
// nothing.
func (s *Site) StartControlPlane(life string) error {
	before, err := s.Started()
	if err != nil || before == life {
		return err
	}
	if err := os.RemoveAll(filepath.Join(s.dir, fetchFolder)); err != nil {
		return fmt.Errorf("forget the former control plane: %w", err)
	}
	return s.write(startFile, ControlPlane{Life: life})
}

// Started returns the life that a bootstrap host started last; empty before.
func (s *Site) Started() (string, error) {
	var started ControlPlane
	err := s.read(startFile, &started)
	return started.Life, err
}

// Leave records that a bootstrap host stops the API server of its life: the address of the API still leads to it, and nothing answers
// there until HandOver.
func (s *Site) Leave(life string) error { return s.write(leaveFile, ControlPlane{Life: life}) }

// HandOver records that the address of the API leads to the masters.
func (s *Site) HandOver(life string) error { return s.write(handOverFile, ControlPlane{Life: life}) }

// HandedOver reports whether masters carry the present control plane: their machine config servers answer workers.
func (s *Site) HandedOver() bool { return s.marked(handOverFile) }

// Away reports whether nothing answers at the address of the API: the bootstrap host has stopped its server.
func (s *Site) Away() bool { return s.marked(leaveFile) && !s.HandedOver() }

// marked reports whether a file names the present control plane.
func (s *Site) marked(name string) bool {
	var mark ControlPlane
	started, err := s.Started()
	return err == nil && s.read(name, &mark) == nil && mark.Life != "" && mark.Life == started
}

// PublishAPI says where the API of the control plane listens.
func (s *Site) PublishAPI(p ControlPlane) error { return s.write(apiFile, p) }

// Published returns the last value of PublishAPI.
func (s *Site) Published() (ControlPlane, error) {
	var published ControlPlane
	err := s.read(apiFile, &published)
	return published, err
}

// API returns the address of the API of the present control plane; empty while it does not answer.
func (s *Site) API() string {
	if s.Away() {
		return ""
	}
	return s.Address()
}

// Address returns the address of the API of the present control plane, whether it answers or not; empty before it answered once.
func (s *Site) Address() string {
	started, err := s.Started()
	if err != nil || started == "" {
		return ""
	}
	published, err := s.Published()
	if err != nil || published.Life != started {
		return ""
	}
	return published.URL
}

func (s *Site) write(name string, v any) error {
	content, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s of a site: %w", name, err)
	}
	return s.writeText(name, string(content))
}

func (s *Site) writeText(name, content string) error {
	if err := renameio.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o644); err != nil {
		return fmt.Errorf("write %s of a site: %w", name, err)
	}
	return nil
}

// read fills v from a file; a file that is missing leaves it as it is.
func (s *Site) read(name string, v any) error {
	content, err := os.ReadFile(filepath.Join(s.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s of a site: %w", name, err)
	}
	if err := json.Unmarshal(content, v); err != nil {
		return fmt.Errorf("read %s of a site: %w", name, err)
	}
	return nil
}

const takeBackFile = "take-back"

// TakeBack lets the installed machines of the site run the agent that reclaims them, as
// a daemon set in their cluster does; off ends it.
func (s *Site) TakeBack(on bool) error {
	if on {
		return s.writeText(takeBackFile, "")
	}
	err := os.Remove(filepath.Join(s.dir, takeBackFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// TakesBack reports the last value of TakeBack.
func (s *Site) TakesBack() bool {
	_, err := os.Stat(filepath.Join(s.dir, takeBackFile))
	return err == nil
}
