package kubeapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/google/renameio/v2"
	"k8s.io/apimachinery/pkg/watch"
)

// journal is an append-only file of changes, one JSON document a line. A line is written
// by one call before the change is answered, so a killed process loses nothing that was
// acknowledged; it is not synced, for this is a simulation and survives its process,
// not its machine. A nil journal keeps nothing.
type journal struct{ file *os.File }

func (j *journal) append(c change) error {
	if j == nil {
		return nil
	}
	line, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	if err := j.file.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}

// load replays the journal at path, replaces it by one that holds just the present
// objects, and keeps it open.
func (s *store) load(path string) error {
	if err := s.replay(path); err != nil {
		return err
	}
	var compact bytes.Buffer
	for _, obj := range s.objects {
		line, err := json.Marshal(change{Type: watch.Added, Object: obj})
		if err != nil {
			return fmt.Errorf("compact journal %s: %w", path, err)
		}
		compact.Write(append(line, '\n'))
	}
	if err := renameio.WriteFile(path, compact.Bytes(), 0o600); err != nil {
		return fmt.Errorf("compact journal %s: %w", path, err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open journal %s: %w", path, err)
	}
	s.journal = &journal{file: file}
	return nil
}

func (s *store) replay(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read journal %s: %w", path, err)
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // a line without its end was being written when the process was killed
		}
		if err == nil {
			err = s.replayLine(line)
		}
		if err != nil {
			return fmt.Errorf("read journal %s line %d: %w", path, number, err)
		}
	}
}

func (s *store) replayLine(line []byte) error {
	var c change
	if err := json.Unmarshal(line, &c); err != nil {
		return err
	}
	res := resourceOfKind(c.Object.GroupVersionKind())
	if res == nil {
		return fmt.Errorf("require a known kind, found %s", c.Object.GroupVersionKind())
	}
	version, err := strconv.ParseUint(c.Object.GetResourceVersion(), 10, 64)
	if err != nil {
		return fmt.Errorf("require a numeric resource version: %w", err)
	}
	s.version = max(s.version, version)
	at := ref{res, c.Object.GetNamespace(), c.Object.GetName()}
	if c.Type == watch.Deleted {
		delete(s.objects, at)
	} else {
		s.objects[at] = c.Object
	}
	return nil
}
