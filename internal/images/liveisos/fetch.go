package liveisos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// fetch downloads the rest.
func (d *download) fetch(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := d.s.o.Stall
	watch := time.AfterFunc(stall, func() { cancel(fmt.Errorf("no data received for %s", stall)) })
	defer watch.Stop()
	response, err := d.ask(ctx)
	if err != nil {
		return d.because(ctx, err)
	}
	defer response.Body.Close()
	if err := d.s.reserve(d.e, d.at, d.part.Size); err != nil {
		return err
	}
	err = d.copy(ctx, response.Body, func() { watch.Reset(stall) })
	// Also after an error: the next try resumes from there.
	return errors.Join(d.because(ctx, err), d.sync())
}

// because prefers the cause of a cancelled request over the error it resulted in.
func (d *download) because(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return failedGet(d.e.image, err)
}

// ask sends the request, and a second one for the whole file when the server does not have the rest of this
// part.
func (d *download) ask(ctx context.Context) (*http.Response, error) {
	for {
		request, err := d.s.o.request(ctx, d.e.image)
		if err != nil {
			return nil, err
		}
		resuming := d.at > 0
		if resuming {
			d.part.resume(request, d.at)
		} else if d.e.refused != nil { // only this try changes it
			d.e.refused.unlessRefused(request)
		}
		response, err := d.s.o.client().Do(request)
		if err != nil {
			return nil, err
		}
		switch code := response.StatusCode; {
		case code == http.StatusOK:
			return response, d.begin(response)
		case code == http.StatusPartialContent && resuming && d.part.continues(response, d.at):
			d.s.logger(d.e).Info("operating system image download resumed", "bytes", d.at, "of", d.part.Size)
			return response, nil
		case resuming && (code == http.StatusPartialContent || code == http.StatusRequestedRangeNotSatisfiable):
			_ = response.Body.Close()
			if err := d.restart(); err != nil {
				return nil, err
			}
		case code == http.StatusNotModified && d.e.refused != nil:
			_ = response.Body.Close()
			return nil, d.e.refused
		default:
			_ = response.Body.Close()
			return nil, fmt.Errorf("require 200 OK, found %s", response.Status)
		}
	}
}

// begin records the content to come, before its first byte.
func (d *download) begin(response *http.Response) error {
	if d.at > 0 {
		d.s.logger(d.e).Info("operating system image download restarted: the source changed, or does not support ranges", "bytes", d.at)
	}
	if err := d.restart(); err != nil {
		_ = response.Body.Close()
		return err
	}
	d.part = describe(d.e.image, response)
	if err := writeJSON(d.recordPath(), d.part); err != nil {
		_ = response.Body.Close()
		return err
	}
	return nil
}

// reserve returns an error for a download that does not fit on the disk beside the other running downloads.
func (s *Store) reserve(e *entry, done, size int64) error {
	room, err := s.o.Free(s.o.Folder)
	if err != nil {
		return err
	}
	s.mu.Lock() // held until this one is counted, too
	defer s.mu.Unlock()
	for _, other := range s.listed {
		if other != e && other.running && !other.inPlace {
			room -= max(other.size-other.done, 0)
		}
	}
	need := size - done + size/20
	if size == 0 {
		need = unknownSize
	}
	if err := enough(s.o.Folder, need, room); err != nil {
		return err
	}
	e.advanced(done, size)
	return nil
}

// copy writes what arrives; alive is called for each piece.
func (d *download) copy(ctx context.Context, body io.Reader, alive func()) error {
	buffer := make([]byte, chunk)
	synced := d.at
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			alive()
			if d.part.Size > 0 && d.at+int64(n) > d.part.Size {
				return fmt.Errorf("more than the required %d bytes", d.part.Size)
			}
			if _, err := d.file.WriteAt(buffer[:n], d.at); err != nil {
				return fmt.Errorf("write operating system image: %w", err)
			}
			d.sum.add(buffer[:n])
			d.at += int64(n)
			d.s.advance(d.e, d.at, d.part.Size)
		}
		switch {
		case errors.Is(err, io.EOF):
			return d.end()
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.at-synced >= d.s.o.SyncBytes:
			if err := d.sync(); err != nil {
				return err
			}
			alive() // a slow disk is no silent server
			if synced = d.at; d.part.Size > 0 {
				continue
			}
			if err := d.s.reserve(d.e, d.at, 0); err != nil {
				return err
			}
		}
	}
}

// end checks that everything announced has arrived.
func (d *download) end() error {
	if d.part.Size == 0 {
		d.part.Size = d.at
	}
	if d.at != d.part.Size {
		return fmt.Errorf("require %d bytes, found %d", d.part.Size, d.at)
	}
	return nil
}

// sync writes the part to the disk durably.
func (d *download) sync() error {
	if err := d.file.Sync(); err != nil {
		return fmt.Errorf("write operating system image: %w", err)
	}
	d.part.Synced = d.at
	return writeJSON(d.recordPath(), d.part)
}
