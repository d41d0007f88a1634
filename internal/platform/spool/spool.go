// Package spool keeps bytes until they can be sent or read at once: in memory up to a bound, beyond it in a file without a name, which is
// gone with the process.
package spool

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// Spool is an io.Writer whose content is read after the last write. Close it after use.
type Spool struct {
	inMemory int
	memory   bytes.Buffer
	file     *os.File
	size     int64
}

// New returns an empty spool that holds at most inMemory bytes in memory.
func New(inMemory int) *Spool { return &Spool{inMemory: inMemory} }

// Len returns how many bytes were written.
func (s *Spool) Len() int64 { return s.size }

// Write implements io.Writer.
func (s *Spool) Write(p []byte) (int, error) {
	if s.file == nil && s.memory.Len()+len(p) <= s.inMemory {
		s.size += int64(len(p))
		return s.memory.Write(p)
	}
	if s.file == nil {
		if err := s.open(); err != nil {
			return 0, err
		}
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	if err != nil {
		return n, fmt.Errorf("write a temporary file: %w", err)
	}
	return n, nil
}

// open moves what is in memory to a file, which has a name for a moment only.
func (s *Spool) open() error {
	file, err := os.CreateTemp("", "slipway-spool-*") // mode 0600
	if err != nil {
		return fmt.Errorf("make a temporary file: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return fmt.Errorf("unlink a temporary file: %w", err)
	}
	s.file = file
	if _, err := file.Write(s.memory.Bytes()); err != nil {
		return fmt.Errorf("write a temporary file: %w", err)
	}
	s.memory = bytes.Buffer{}
	return nil
}

// Reader returns a reader of everything that was written. Each call returns one that begins at the start.
func (s *Spool) Reader() io.Reader {
	if s.file == nil {
		return bytes.NewReader(s.memory.Bytes())
	}
	return io.NewSectionReader(s.file, 0, s.size)
}

// Close frees the memory and the file.
func (s *Spool) Close() error {
	s.memory = bytes.Buffer{}
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
