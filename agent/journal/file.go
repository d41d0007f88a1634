package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/renameio/v2"
)

// write adds a record. The page cache outlives this process; only what changes the host
// is worth waiting for the disk.
func (j *Journal) write(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		_ = j.file.Truncate(j.size) // so that the next record does not continue half a line
		return fmt.Errorf("write the journal: %w", err)
	}
	j.apply(l)
	j.size += int64(len(text)) + 1
	if j.entries[l.ID].Changes {
		if err := j.file.Sync(); err != nil {
			return fmt.Errorf("write the journal: %w", err)
		}
	}
	if j.size > j.limit {
		return j.rewrite()
	}
	return nil
}

// rewrite replaces the file by one with a record or two for each entry worth keeping.
func (j *Journal) rewrite() error {
	j.forget()
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	for _, id := range j.order {
		for _, l := range j.entries[id].lines() {
			if err := encoder.Encode(l); err != nil {
				return fmt.Errorf("write the journal: %w", err)
			}
		}
	}
	if err := renameio.WriteFile(j.path, content.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	file, err := os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	if j.file != nil {
		_ = j.file.Close()
	}
	j.file, j.size = file, int64(content.Len())
	j.limit = max(compactAt, 2*j.size)
	return nil
}

// forget drops the closed entries of long ago.
func (j *Journal) forget() {
	kept := j.order[:0]
	for _, id := range j.order {
		e := j.entries[id]
		if e.State == Closed && !e.Changes && j.now().Sub(e.At) > keepFor {
			delete(j.entries, id)
			continue
		}
		kept = append(kept, id)
	}
	j.order = kept
}

// lines returns the records that make the entry again.
func (e *Entry) lines() []line {
	begun := line{
		ID: e.Step.StepID, State: Started, At: e.At, Type: e.Step.StepType, Args: e.Step.Args, Fence: e.Step.Fence, Changes: e.Changes,
	}
	switch e.State {
	case Started:
		return []line{begun}
	case Closed:
		begun.State, begun.Reply = Closed, e.Answer
		return []line{begun}
	}
	return []line{begun, {ID: e.Step.StepID, State: e.State, At: e.At, Reply: e.Reply, FollowUp: e.FollowUp}}
}
