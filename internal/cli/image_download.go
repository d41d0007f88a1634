package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cenkalti/backoff/v5"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/platform/hostexec"
)

// download downloads an image, over as many connections as necessary.
type download struct {
	from     *imageSource
	to       sink
	what     string // "full image of lab"
	progress *progress
	// timeout limits the pauses that the service requests, stall the time without a byte on a connection.
	timeout, stall time.Duration

	furthest int64         // the largest number of bytes so far
	paused   time.Duration // since furthest grew
	opened   bool          // the service had the image, or was busy with it, in this run
	renewed  bool          // the address is new and was not used yet
	pauses   backoff.ExponentialBackOff
}

// sink receives the bytes of an image.
type sink interface {
	io.Writer
	// have returns how many bytes of which image are present.
	have() (from int64, etag string)
	// begin announces which image comes, and from which byte on; bytes behind it are dropped.
	begin(image *client.Image) error
}

const (
	// brokenLimit is how long a service may be unreachable during a download: a restart, an upgrade of its
	// machine.
	brokenLimit = 5 * time.Minute
	// chunk is how much is read and written at once, in bytes.
	chunk = 1 << 20
)

var (
	errStalled = errors.New("the connection is silent")
	errChanged = errors.New("the image has changed since the download began")
)

// brokenError is the end of a connection before the image's end.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

// run downloads until everything is present, or no further attempt would help.
func (d *download) run(ctx context.Context) error {
	d.pauses = backoff.ExponentialBackOff{
		InitialInterval:     250 * time.Millisecond,
		RandomizationFactor: 0.5,
		Multiplier:          1.7,
		MaxInterval:         15 * time.Second,
	}
	d.furthest, _ = d.to.have()
	for {
		err := d.attempt(ctx)
		d.progress.end()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("download the %s: stopped: %w", d.what, ctx.Err())
		}
		pause, err := d.again(ctx, err)
		if err != nil {
			return err
		}
		if err := hostexec.Sleep(ctx, pause); err != nil {
			return fmt.Errorf("download the %s: stopped: %w", d.what, err)
		}
	}
}

// attempt uses one connection as far as it goes.
func (d *download) attempt(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(d.stall, func() { cancel(errStalled) })
	defer watch.Stop()

	from, etag := d.to.have()
	image, err := d.from.open(ctx, from, etag)
	if err != nil {
		return broken(ctx, err)
	}
	defer image.Body.Close()
	d.opened, d.renewed = true, false
	if image.From != from || from > 0 && image.ETag != etag {
		d.furthest = 0
		d.progress.says("%s: %s: starting again", d.progress.name, errChanged)
		if image.From > 0 { // what came with it begins too late
			return cmp.Or(d.to.begin(&client.Image{Size: image.Size}), errChanged)
		}
	}
	if err := d.to.begin(image); err != nil {
		return err
	}
	d.progress.begin(image.From, image.Size)
	return d.copy(ctx, image, watch)
}

// broken distinguishes the end of a connection from a reply.
func broken(ctx context.Context, err error) error {
	var apiErr *client.Error
	if errors.As(err, &apiErr) {
		return err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return &brokenError{err}
}

func (d *download) copy(ctx context.Context, image *client.Image, watch *time.Timer) error {
	buffer := make([]byte, chunk)
	for at := image.From; ; {
		n, err := image.Body.Read(buffer)
		watch.Stop() // a slow disk is no silent connection
		if _, failed := d.to.Write(buffer[:n]); failed != nil {
			return fmt.Errorf("write the %s: %w", d.what, failed)
		}
		watch.Reset(d.stall)
		at += int64(n)
		d.progress.add(n)
		switch {
		case errors.Is(err, io.EOF) && at == image.Size:
			return nil
		case err != nil:
			return broken(ctx, err)
		}
	}
}

// again returns how long to wait before the next attempt, or why there is none.
func (d *download) again(ctx context.Context, err error) (time.Duration, error) {
	if have, _ := d.to.have(); have > d.furthest {
		d.furthest, d.paused = have, 0
		d.pauses.Reset()
	}
	var apiErr *client.Error
	var cut *brokenError
	final := failed(d.from.at(), "download the "+d.what, err)
	switch {
	case errors.Is(err, errChanged):
		return 0, nil
	case errors.As(err, &apiErr) && apiErr.RetryAfter > 0 && client.Passing(err):
		d.opened = true // the service works, and may be unreachable for a moment
		d.progress.waits(d.progress.name + ": " + reason(apiErr))
		return d.pause(apiErr.RetryAfter, d.timeout, final)
	case d.opened && !d.renewed && (errors.Is(err, client.ErrUnauthorized) || errors.Is(err, model.ErrNotFound)):
		d.renewed = true // addresses end after some hours, and with the key that signed them
		return 0, d.from.locate(ctx)
	case errors.As(err, &cut), client.Passing(err) && apiErr != nil:
		if !d.opened || !d.resumes() {
			return 0, final
		}
		if errors.Is(err, errStalled) {
			d.paused += d.stall
		}
		pause := d.pauses.NextBackOff()
		d.progress.says("%s: the connection broke: %s; trying again", d.progress.name, err)
		return d.pause(pause, brokenLimit, final)
	case apiErr != nil:
		return 0, final
	}
	return 0, err
}

// pause adds to the time without a byte, which has a limit.
func (d *download) pause(pause, limit time.Duration, final error) (time.Duration, error) {
	if d.paused += pause; d.paused > limit {
		return 0, &Failure{fmt.Errorf("%w (waited %s)", final, d.paused-pause), exitTimeout}
	}
	return pause, nil
}

// resumes reports whether the existing bytes are of use to the next attempt.
func (d *download) resumes() bool {
	_, isStream := d.to.(stdout)
	return !isStream
}

// reason returns the service's own message.
func reason(apiErr *client.Error) string {
	if apiErr.Reason == "" {
		return "the service is busy"
	}
	return apiErr.Reason
}

// stdout is a stream: written bytes cannot be undone.
type stdout struct{ io.Writer }

func (stdout) have() (int64, string) { return 0, "" }

func (stdout) begin(*client.Image) error { return nil }
