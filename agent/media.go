package agent

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"slipway/internal/platform/hostexec"
)

const (
	mediaMount = "/run/media/iso"
	// mediaBlock is how much is read of the medium: direct I/O wants whole, aligned blocks.
	mediaBlock = 4096
	// mediaLimit is how long a medium that is there may take.
	mediaLimit = 15 * time.Second
)

// mediaError says that the medium the host booted from is gone (exit code 256).
type mediaError struct{ err error }

func (e *mediaError) Error() string {
	return "cannot read from the media (ISO) - media was likely disconnected: " + e.err.Error()
}
func (e *mediaError) Unwrap() error { return e.err }

// checkMedia reads from the virtual medium the host booted from, if it did.
func (a *Agent) checkMedia(ctx context.Context, t *task) error {
	device, mounted := a.medium(ctx)
	if !mounted || t.spec.WithoutMedia {
		return nil
	}
	if err := a.readMedia(ctx, device); err != nil {
		return &mediaError{err}
	}
	return nil
}

// medium finds the device of the medium, when one is mounted.
func (a *Agent) medium(ctx context.Context) (device string, mounted bool) {
	if _, err := os.Stat(a.host.Root.Path(mediaMount)); err != nil {
		return "", false
	}
	result, err := a.host.Runner.Run(ctx, hostexec.Cmd{
		Name: "findmnt", Args: []string{"--raw", "--noheadings", "--output", "SOURCE,TARGET", "--target", mediaMount},
	})
	fields := strings.Fields(result.Stdout)
	if err != nil || len(fields) != 2 || fields[1] != mediaMount || !strings.HasPrefix(fields[0], "/dev/") {
		return "", false
	}
	return fields[0], true
}

// mediaReading is one read of the boot medium, for all who ask while it runs.
type mediaReading struct {
	done chan struct{}
	err  error // filled before done is closed
}

// readMedia reads from a device that may never answer; one reader at a time waits for it,
// and whoever asks meanwhile waits for the same answer.
func (a *Agent) readMedia(ctx context.Context, device string) error {
	reading := a.startReading(device)
	timer := time.NewTimer(mediaLimit)
	defer timer.Stop()
	select {
	case <-reading.done:
		return reading.err
	case <-timer.C:
		return fmt.Errorf("no answer from %s within %s", device, mediaLimit)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// startReading joins the read in progress, or begins one.
func (a *Agent) startReading(device string) *mediaReading {
	a.mediaMu.Lock()
	defer a.mediaMu.Unlock()
	if a.mediaReading != nil {
		return a.mediaReading
	}
	reading := &mediaReading{done: make(chan struct{})}
	a.mediaReading = reading
	go func() {
		reading.err = readDirect(a.host.Root.Path(device))
		a.mediaMu.Lock()
		a.mediaReading = nil
		a.mediaMu.Unlock()
		close(reading.done)
	}()
	return reading
}

// readDirect reads the first block of a device, past the page cache, which would still
// know a medium that is gone. Where direct I/O is not possible it reads as usual.
func readDirect(device string) error {
	file, err := os.OpenFile(device, os.O_RDONLY|syscall.O_DIRECT, 0)
	if err != nil {
		file, err = os.Open(device)
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	buffer := make([]byte, 2*mediaBlock)
	shift := mediaBlock - int(uintptr(unsafe.Pointer(&buffer[0]))%mediaBlock) //nolint:gosec // alignment for O_DIRECT
	if n, err := file.Read(buffer[shift : shift+mediaBlock]); n == 0 {
		return err
	}
	return nil
}
