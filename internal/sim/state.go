package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/renameio/v2"
)

// BootFrom names the medium that a machine runs from.
type BootFrom string

// What a machine boots from.
const (
	FromLive BootFrom = "live"
	FromDisk BootFrom = "disk"
)

// State survives kills of a machine's process, and boots.
type State struct {
	Boots    int       `json:"boots"`
	BootID   string    `json:"boot_id"` // empty while powered off
	From     BootFrom  `json:"from"`
	BootedAt time.Time `json:"booted_at"`
	// RebootAt is when a commanded reboot happens; zero without one.
	RebootAt time.Time `json:"reboot_at"`
	// NextFrom overrides what the next boot starts from; FixAt is when somebody corrects a
	// wrong boot order and starts the machine from its disk.
	NextFrom BootFrom  `json:"next_from,omitempty"`
	FixAt    time.Time `json:"fix_at"`
	// FetchedAt is when Ignition got its config on a first boot; Applied is the id of the
	// disk content that was booted to the end once.
	FetchedAt time.Time `json:"fetched_at"`
	Applied   string    `json:"applied,omitempty"`
	// NodeImageAt is when the units of the node image were started in this boot.
	NodeImageAt time.Time `json:"node_image_at"`
	// BootkubeAt is when bootkube.service was started in this boot, ControlPlaneAt when its
	// API answered, MastersAt when enough masters were ready, BootkubeDone when it ended.
	BootkubeAt     time.Time `json:"bootkube_at"`
	ControlPlaneAt time.Time `json:"control_plane_at"`
	MastersAt      time.Time `json:"masters_at"`
	BootkubeDone   time.Time `json:"bootkube_done"`
	// ProgressDone is when progress.service ended, ProgressAgain that it was started once more: it then never ends.
	ProgressDone  time.Time `json:"progress_done"`
	ProgressAgain bool      `json:"progress_again,omitempty"`
	// NodeReady is set when the machine was a ready node in this boot.
	NodeReady bool `json:"node_ready"`
	// Node is the name of the node that the machine has been; when it boots another system, the cluster has yet to miss it.
	Node string `json:"node,omitempty"`
	// Images that are already in this boot's container storage.
	Images []string `json:"images,omitempty"`
	// Containers are the names that containers of this boot took, running or not.
	Containers []string `json:"containers,omitempty"`
	// Failed counts how often a step was made to fail, CutUntil is when a cut cable is
	// plugged in again and CutDone that it happened.
	Failed   map[string]int `json:"failed,omitempty"`
	CutUntil time.Time      `json:"cut_until"`
	CutDone  bool           `json:"cut_done,omitempty"`
	// WrongBoots counts the boots of the live image in spite of an installed disk.
	WrongBoots int `json:"wrong_boots,omitempty"`
}

// forgetBoot clears what belongs to one boot.
func (s *State) forgetBoot() {
	s.BootID, s.RebootAt, s.FixAt = "", time.Time{}, time.Time{}
	s.BootkubeAt, s.ControlPlaneAt, s.MastersAt, s.BootkubeDone = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	s.NodeImageAt = time.Time{}
	s.ProgressDone, s.ProgressAgain = time.Time{}, false
	s.FetchedAt, s.NodeReady, s.Images, s.Containers = time.Time{}, false, nil, nil
}

// memory keeps a State in a file, whole at any moment.
type memory struct {
	mu    sync.Mutex
	path  string
	state State
	// changed is closed and replaced at every change.
	changed chan struct{}
}

const stateFile = "state.json"

func openMemory(dir string) (*memory, error) {
	m := &memory{path: filepath.Join(dir, stateFile), changed: make(chan struct{})}
	state, err := ReadState(dir)
	m.state = state
	return m, err
}

// ReadState reads the state in a machine's folder; a new machine's is the zero value.
func ReadState(dir string) (State, error) {
	state := State{}
	content, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &state)
	}
	if err != nil {
		return state, fmt.Errorf("read the state of a machine: %w", err)
	}
	return state, nil
}

// get returns the present state and a channel that is closed when it changes.
func (m *memory) get() (State, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state, m.changed
}

// update changes the state and keeps it before anybody sees it.
func (m *memory) update(change func(*State)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.state
	next.Failed = map[string]int{}
	for step, times := range m.state.Failed {
		next.Failed[step] = times
	}
	change(&next)
	content, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("write the state of a machine: %w", err)
	}
	if err := renameio.WriteFile(m.path, content, 0o644); err != nil {
		return fmt.Errorf("write the state of a machine: %w", err)
	}
	m.state = next
	close(m.changed)
	m.changed = make(chan struct{})
	return nil
}
