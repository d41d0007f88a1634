package sim

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"slipway/internal/sim/hardware"
	"slipway/internal/sim/unitfiles"
)

// shortestFix is the least (real) time until somebody corrects a wrong boot order: the
// service has to notice it first.
const shortestFix = 3 * time.Second

// powerOn boots: the firmware chooses what from, and the file system of that system is
// made anew.
func (m *Machine) powerOn() error {
	from, wrong, err := m.chooseBoot()
	if err != nil {
		return err
	}
	bootID := uuid.NewString()
	if err := m.makeRoot(bootID); err != nil {
		return err
	}
	now := m.options.Now()
	err = m.memory.update(func(s *State) {
		s.forgetBoot()
		s.Boots++
		s.BootID, s.From, s.BootedAt, s.NextFrom = bootID, from, now, ""
		if wrong {
			s.WrongBoots++
			s.FixAt = now.Add(max(m.clock.Real(m.times.LiveBoot+m.times.BootFix), shortestFix))
		}
	})
	if err != nil {
		return err
	}
	m.note(Entry{Event: EventPoweredOn, From: from})
	return nil
}

// chooseBoot acts as the firmware: it boots from the disk when that is bootable, else from the live image. wrong says that the disk
// should have been chosen.
func (m *Machine) chooseBoot() (from BootFrom, wrong bool, err error) {
	state := m.State()
	if state.NextFrom == FromLive {
		return FromLive, false, nil
	}
	content, err := m.bootDisk()
	if err != nil {
		return "", false, err
	}
	reclaimed, err := m.reclaimed()
	if err != nil {
		return "", false, err
	}
	switch {
	case content == nil, reclaimed && state.NextFrom == "":
		return FromLive, false, nil
	case state.NextFrom == "" && state.WrongBoots < m.options.Faults.BootLive:
		return FromLive, true, nil
	}
	return FromDisk, false, nil
}

// bootDisk returns the content of the first disk that boots; nil when none does.
func (m *Machine) bootDisk() (*DiskContent, error) {
	for _, d := range m.options.Spec.Disks {
		content, err := ReadDisk(m.options.Root, d.Name)
		if err != nil || content != nil {
			return content, err
		}
	}
	return nil, nil
}

// makeRoot replaces the file system of the last boot.
func (m *Machine) makeRoot(bootID string) error {
	root := m.options.root()
	if err := os.RemoveAll(string(root)); err != nil {
		return fmt.Errorf("clear the file system: %w", err)
	}
	err := m.options.Spec.WriteTree(root, bootID, func(d hardware.Disk) (string, error) { return openDisk(m.options.Root, d) })
	if err != nil {
		return fmt.Errorf("write the file system: %w", err)
	}
	if err := unitfiles.WriteSystem(root); err != nil {
		return fmt.Errorf("write the units of the system: %w", err)
	}
	return nil
}

// booted waits until the operating system is up, counted from power on.
func (m *Machine) booted(ctx context.Context) error {
	state := m.State()
	duration := m.times.LiveBoot
	if state.From == FromDisk {
		duration = m.times.DiskBoot
	}
	return m.clock.Until(ctx, state.BootedAt, duration, m.options.Now())
}
