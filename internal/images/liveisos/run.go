package liveisos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// errBusy: another process writes this image.
var errBusy = errors.New("another process downloads it")

// Run downloads the listed images until ctx ends: the newest first, two at a time, failed ones again. It
// returns when all work has ended.
func (s *Store) Run(ctx context.Context) {
	if err := os.MkdirAll(s.o.Folder, 0o755); err != nil {
		s.o.Log.Error("folder of operating system images not made", "err", err) // downloads report it, too
	}
	for _, e := range s.listed {
		if found, err := s.look(e); err == nil {
			s.ended(ctx, e, found, nil)
		}
	}
	var tries sync.WaitGroup
	defer tries.Wait()
	tidied := s.tidy()
	for {
		if now := s.o.Now(); !now.Before(tidied.Add(tidyEvery)) {
			tidied = s.tidy()
		}
		list, pause := s.plan(tidied.Add(tidyEvery))
		for _, e := range list {
			tries.Go(func() {
				found, err := s.get(ctx, e)
				s.ended(ctx, e, found, err)
				s.nudge()
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-s.o.After(pause):
		}
	}
}

// plan chooses the entries to try now, and marks them; the next call is due after pause, at the latest at
// until.
func (s *Store) plan(until time.Time) (list []*entry, pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	now, room := s.o.Now(), atOnce
	for _, e := range s.listed {
		if e.running {
			room--
		}
	}
	for _, e := range s.offered { // an added image replaces it
		switch {
		case e.added || e.running || e.state == StateReady || e.state == StateOnDemand:
		case e.next.After(now):
			until = earlier(until, e.next)
		case room > 0: // the others wait for the end of one of these
			e.started(now)
			list, room = append(list, e), room-1
		}
	}
	return list, until.Sub(now)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// get makes one try to get an image.
func (s *Store) get(ctx context.Context, e *entry) (*Image, error) {
	if found, err := s.look(e); err == nil {
		return found, nil
	}
	var err error
	if e.inPlace {
		err = s.verify(ctx, e)
	} else {
		err = s.download(ctx, e)
	}
	if err != nil {
		return nil, err
	}
	return s.look(e)
}

// verify computes the digest of a file that is used in place.
func (s *Store) verify(ctx context.Context, e *entry) error {
	if e.image.SHA256 == "" {
		return nil
	}
	f, err := openFile(e.path)
	if err != nil {
		return fmt.Errorf("open operating system image: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at operating system image: %w", err)
	}
	if e.wrong != nil && same(e.wrong.info, info) {
		return e.wrong // only tries change it
	}
	sum, err := readDigest(ctx, f, func(done int64) { s.advance(e, done, info.Size()) })
	if err != nil {
		return err
	}
	if sum != e.image.SHA256 {
		e.wrong = &refusal{err: fmt.Errorf("sha256: require %s, found %s", e.image.SHA256, sum), info: info}
		return e.wrong
	}
	e.reading.Lock()
	e.verified = info
	e.reading.Unlock()
	return nil
}

// ended records the result of a try, and logs it.
func (s *Store) ended(ctx context.Context, e *entry, found *Image, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	log := s.logger(e)
	switch {
	case err == nil:
		e.succeeded(found)
		log.Info("operating system image ready", "bytes", found.Size, "sha256", found.Digest, "required_sha256", e.image.SHA256,
			"file", found.Path)
	case errors.Is(err, errBusy):
		e.postponed(now.Add(busyPause))
		log.Debug("operating system image left to another process")
	case ctx.Err() != nil:
		e.postponed(now)
	default:
		var r *refusal
		if errors.As(err, &r) {
			e.refused, e.done, e.size = r, 0, 0 // it counts for nothing
		}
		e.failed(err, now)
		log.Warn("operating system image does not exist", "err", err, "next_try", e.next)
	}
}

// advance records the progress of a try, and logs it now and then.
func (s *Store) advance(e *entry, done, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.advanced(done, size)
	if size == 0 {
		return
	}
	if tenths := done * 10 / size; tenths > e.logged && tenths < 10 {
		e.logged = tenths
		s.logger(e).Info("operating system image is being downloaded", "percent", 10*tenths, "bytes", done, "of", size)
	}
}

func (s *Store) logger(e *entry) *slog.Logger {
	log := s.o.Log.With("version", e.image.OpenShiftVersion, "architecture", e.image.CPUArchitecture)
	if e.image.Type != "" {
		log = log.With("type", e.image.Type)
	}
	return log
}
