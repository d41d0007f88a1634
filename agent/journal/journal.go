// Package journal remembers which steps an agent took and what became of them, so that
// no step id runs twice and no reply is lost when the agent is killed. It is a file of
// JSON lines that only grows, written before anything happens, and made small again
// when it has grown.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"slipway/internal/wire"
)

const (
	fileName = "steps.jsonl"
	// compactAt is the least size in bytes from which the file is made small again.
	compactAt = 1 << 20
	// keepFor is how long the id of a closed step is remembered; ids of steps that change the host are
	// kept as long as the boot lasts.
	keepFor = 24 * time.Hour
)

// State is how far a step is.
type State string

// started -> finished -> acknowledged -> closed. A step without anything to do after its
// acknowledgement is closed by it.
const (
	Started      State = "started"
	Finished     State = "finished"
	Acknowledged State = "acknowledged"
	Closed       State = "closed"
)

// Entry is the record of a step.
type Entry struct {
	Step  wire.Step
	State State
	// Changes says that the step changes the host: disks, services, power.
	Changes bool
	// Reply is set from Finished on, until it is acknowledged.
	Reply *wire.StepReply
	// Answer is the reply of a step that changes the host, kept for a service that asks once more: its output only if it is
	// short.
	Answer *wire.StepReply
	// FollowUp says that something is to be done once the reply is acknowledged.
	FollowUp bool
	At       time.Time
}

// line is one record of the file; later ones add to earlier ones of the same id.
type line struct {
	ID       string          `json:"id"`
	State    State           `json:"state"`
	At       time.Time       `json:"at"`
	Type     wire.StepType   `json:"type,omitempty"`
	Args     []string        `json:"args,omitempty"`
	Fence    wire.StepFence  `json:"fence,omitzero"`
	Changes  bool            `json:"changes,omitempty"`
	Reply    *wire.StepReply `json:"reply,omitempty"`
	FollowUp bool            `json:"follow_up,omitempty"`
	Refused  bool            `json:"refused,omitempty"`
}

// Journal is an open journal. It is safe for concurrent use.
type Journal struct {
	now  func() time.Time
	path string

	mu      sync.Mutex
	file    *os.File
	size    int64 // of the file, in bytes
	limit   int64 // from which the file is made small again
	entries map[string]*Entry
	order   []string // ids as they came
}

// Open reads the journal in a folder, or begins one. What a crash left half written at
// its end never happened.
func Open(dir string, now func() time.Time) (*Journal, error) {
	j := &Journal{now: now, path: filepath.Join(dir, fileName), entries: map[string]*Entry{}}
	content, err := os.ReadFile(j.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	whole := content[:bytes.LastIndexByte(content, '\n')+1]
	scanner := bufio.NewScanner(bytes.NewReader(whole))
	scanner.Buffer(nil, len(whole)+1)
	for scanner.Scan() {
		var l line
		if json.Unmarshal(scanner.Bytes(), &l) == nil { // a damaged line must not stop the agent for good
			j.apply(l)
		}
	}
	if err := j.rewrite(); err != nil {
		return nil, err
	}
	return j, nil
}

// Close closes the file; the journal must not be used any more.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file.Close()
}

// Start records that a step is about to run. It is false for a step that is known
// already, which must not run. What is recorded of a step that changes the host is on
// stable storage when Start returns.
func (j *Journal) Start(step wire.Step, changes bool) (bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, known := j.entries[step.StepID]; known {
		return false, nil
	}
	err := j.write(line{
		ID: step.StepID, State: Started, At: j.now(), Type: step.StepType, Args: step.Args, Fence: step.Fence, Changes: changes,
	})
	return err == nil, err
}

// Finish records the reply of a step, and whether something is left to do afterwards.
func (j *Journal) Finish(reply wire.StepReply, followUp bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(line{ID: reply.StepID, State: Finished, At: j.now(), Reply: &reply, FollowUp: followUp})
}

// Acknowledge records that the service has the reply; what is to follow may begin.
func (j *Journal) Acknowledge(id string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	state := Closed
	if e := j.entries[id]; e != nil && e.FollowUp {
		state = Acknowledged
	}
	return j.write(line{ID: id, State: state, At: j.now()})
}

// maxAnswer is the output in bytes that is kept of a step whose reply the service has.
const maxAnswer = 4 << 10

// Answer returns the reply of a step that changes the host and is closed: the service that has it may have lost it, with
// its database or by its restore.
func (j *Journal) Answer(id string) (wire.StepReply, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.entries[id]
	if e == nil || e.State != Closed || e.Answer == nil {
		return wire.StepReply{}, false
	}
	return *e.Answer, true
}

// GiveUp records that the service does not want the reply of a step.
func (j *Journal) GiveUp(id string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(line{ID: id, State: Closed, At: j.now(), Refused: true})
}

// Done records that nothing is left to do for a step.
func (j *Journal) Done(id string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(line{ID: id, State: Closed, At: j.now()})
}

// Fences returns the fences of all steps that were begun in this boot.
func (j *Journal) Fences() []wire.StepFence {
	j.mu.Lock()
	defer j.mu.Unlock()
	var fences []wire.StepFence
	for _, id := range j.order {
		if fence := j.entries[id].Step.Fence; fence != (wire.StepFence{}) {
			fences = append(fences, fence)
		}
	}
	return fences
}

// Unclosed returns copies of the entries that are not closed, as they came.
func (j *Journal) Unclosed() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	var open []Entry
	for _, id := range j.order {
		if e := j.entries[id]; e.State != Closed {
			open = append(open, *e)
		}
	}
	return open
}

func (j *Journal) apply(l line) {
	e := j.entries[l.ID]
	if e == nil {
		e = &Entry{Step: wire.Step{StepID: l.ID, StepType: l.Type, Args: l.Args, Fence: l.Fence}, Changes: l.Changes}
		j.entries[l.ID] = e
		j.order = append(j.order, l.ID)
	}
	e.State, e.At = l.State, l.At
	if l.Reply != nil && e.Changes {
		answer := *l.Reply
		if len(answer.Output) > maxAnswer {
			answer.Output = ""
		}
		e.Answer = &answer
	}
	if l.Refused {
		e.Answer = nil
	}
	switch l.State {
	case Finished:
		e.Reply, e.FollowUp = l.Reply, l.FollowUp
	case Acknowledged:
		e.Reply, e.FollowUp = nil, true
	case Closed:
		e.Reply, e.FollowUp, e.Step.Args = nil, false, nil
	}
}
