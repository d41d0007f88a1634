package controller

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"time"
)

// archive is a tar.gz in a temporary file. Its first error is kept, so that what adds small texts need not check.
type archive struct {
	file *os.File
	zip  *gzip.Writer
	tar  *tar.Writer
	now  time.Time
	err  error
}

func newArchive(now time.Time) (*archive, error) {
	file, err := os.CreateTemp("", "slipway-logs-*.tar.gz")
	if err != nil {
		return nil, err
	}
	zip := gzip.NewWriter(file)
	return &archive{file: file, zip: zip, tar: tar.NewWriter(zip), now: now}, nil
}

func (a *archive) add(name string, size int64, content io.Reader) error {
	if a.err != nil {
		return a.err
	}
	header := &tar.Header{Name: name, Mode: 0o644, Size: size, ModTime: a.now}
	if a.err = a.tar.WriteHeader(header); a.err == nil {
		_, a.err = io.Copy(a.tar, io.LimitReader(content, size))
	}
	return a.err
}

func (a *archive) text(name, content string) {
	_ = a.add(name, int64(len(content)), strings.NewReader(content)) // kept
}

func (a *archive) bytes(name string, content []byte) error {
	return a.add(name, int64(len(content)), bytes.NewReader(content))
}

// finish ends the archive; it can be opened then.
func (a *archive) finish() error {
	return errors.Join(a.err, a.tar.Close(), a.zip.Close(), a.file.Sync())
}

func (a *archive) open() (io.ReadCloser, error) { return os.Open(a.file.Name()) }

func (a *archive) remove() {
	_, _ = a.file.Close(), os.Remove(a.file.Name())
}
