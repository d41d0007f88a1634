package sim

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// LogFile is the name of a machine's log in its folder.
const LogFile = "machine.log"

// Event names something that happened to a machine.
type Event string

// The events of a machine's log.
const (
	EventPoweredOn     Event = "powered-on"     // a boot began; From says from what
	EventAgentStarted  Event = "agent-started"  // also after a kill of the process: the same boot
	EventStepReceived  Event = "step-received"  // the service handed out a step
	EventStepReplied   Event = "step-replied"   // the service acknowledged its result
	EventCommandFailed Event = "command-failed" // a fault that was asked for
	EventWriteStarted  Event = "image-write-started"
	EventWriteFinished Event = "image-write-finished"
	EventServices      Event = "bootstrap-services-started"
	EventControlPlane  Event = "control-plane-started"
	EventBootkubeDone  Event = "bootkube-done"
	EventRebootAsked   Event = "reboot-commanded"
	EventPoweredOff    Event = "powered-off"
	EventIgnition      Event = "ignition-applied" // once for each written image
	EventNodeReady     Event = "node-ready"
	EventDisconnected  Event = "disconnected"
	EventConnected     Event = "connected"
)

// Entry is a line of a machine's log.
type Entry struct {
	At     time.Time `json:"at"`
	Event  Event     `json:"event"`
	BootID string    `json:"boot_id,omitempty"`
	From   BootFrom  `json:"from,omitempty"`
	// Device and Ignition (its SHA-256) of an image that is written.
	Device   string `json:"device,omitempty"`
	Ignition string `json:"ignition,omitempty"`
	StepType string `json:"step_type,omitempty"`
	StepID   string `json:"step_id,omitempty"`
	ExitCode int    `json:"exit_code,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

// journal is the log of a machine, open for writing.
type journal struct {
	mu   sync.Mutex
	file *os.File
	now  func() time.Time
}

func openJournal(dir string, now func() time.Time) (*journal, error) {
	file, err := os.OpenFile(filepath.Join(dir, LogFile), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log of a machine: %w", err)
	}
	j := &journal{file: file, now: now}
	if err := j.endLine(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

// endLine ends a last line that a kill cut short, so that the next one is whole.
func (j *journal) endLine() error {
	info, err := j.file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := j.file.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = j.file.WriteString("\n")
	return err
}

// add writes an entry and does not return before it is on the disk.
func (j *journal) add(e Entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.At = j.now().UTC()
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write the log of a machine: %w", err)
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the log of a machine: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("write the log of a machine: %w", err)
	}
	return nil
}

func (j *journal) close() error { return j.file.Close() }

// ReadLog reads the log in a machine's folder. A last line that was being written when
// the process was killed is left out.
func ReadLog(dir string) ([]Entry, error) {
	file, err := os.Open(filepath.Join(dir, LogFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the log of a machine: %w", err)
	}
	defer file.Close()
	var entries []Entry
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			continue // cut short by a kill
		}
		entries = append(entries, e)
	}
	return entries, lines.Err()
}
