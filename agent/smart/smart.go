// Package smart asks disks for their own verdict on their health: ATA disks by SMART RETURN
// STATUS (ACS-3), SCSI disks by the informational exceptions (SPC-4), NVMe by the health log
// (NVM Express 1.4). It reads no more than the verdict.
package smart

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"slipway/internal/platform/hostexec"
)

// Verdict is a disk's own report of its health.
type Verdict struct {
	Passed bool  `json:"passed"`
	NVMe   *NVMe `json:"nvme,omitempty"` // of NVMe disks only
}

// NVMe is the byte of critical warnings: a bit for each.
type NVMe struct {
	Value int `json:"value"`
}

// ErrNoVerdict: the disk is asleep, or does not watch its health.
var ErrNoVerdict = errors.New("the disk gives no verdict on its health")

// patience is for one disk: a dying one may not answer at all.
const patience = 10 * time.Second

// Disks reads the health of this machine's disks.
type Disks struct {
	Root hostexec.Root
	// Open opens a disk for commands; by the kernel's drivers when nil.
	Open func(path string) (Device, error)
}

// Device carries commands to a disk.
type Device interface {
	// SCSI sends a command that returns up to len(into) bytes, and returns the sense data.
	SCSI(command, into []byte) (sense []byte, err error)
	// NVMeLog reads a log of an NVMe controller.
	NVMeLog(page uint8, into []byte) error
	Close() error
}

// Health asks a disk by its path (/dev/sda, /dev/nvme0n1). It wakes no disk. A disk that
// does not answer in ten seconds is given up.
func (d Disks) Health(ctx context.Context, path string) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	type outcome struct {
		verdict Verdict
		err     error
	}
	over := make(chan outcome, 1)
	go func() { // it waits for the disk, however long that takes
		verdict, err := d.health(path)
		over <- outcome{verdict, err}
	}()
	select {
	case o := <-over:
		return o.verdict, o.err
	case <-ctx.Done():
		return Verdict{}, context.Cause(ctx)
	}
}

func (d Disks) health(path string) (Verdict, error) {
	open := d.Open
	if open == nil {
		open = openDevice
	}
	device, err := open(d.Root.Path(path))
	if err != nil {
		return Verdict{}, err
	}
	defer func() { _ = device.Close() }()
	if strings.HasPrefix(path, "/dev/nvme") {
		return nvmeHealth(device)
	}
	maker, err := inquire(device)
	if err != nil {
		return Verdict{}, fmt.Errorf("ask %s what it is: %w", path, err)
	}
	// The vendor of ATA disks behind SCSI's commands (SAT-3, section 8.1.2).
	if maker == "ATA" {
		return ataHealth(device)
	}
	return scsiHealth(device)
}

// nvmeHealth reads the log SMART / Health Information (NVM Express 1.4, section 5.14.1.2).
func nvmeHealth(device Device) (Verdict, error) {
	const healthLog, logLength = 0x02, 512
	log := make([]byte, logLength)
	if err := device.NVMeLog(healthLog, log); err != nil {
		return Verdict{}, err
	}
	warnings := int(log[0])
	return Verdict{Passed: warnings == 0, NVMe: &NVMe{Value: warnings}}, nil
}
