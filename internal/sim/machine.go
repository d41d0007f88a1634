package sim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"slipway/internal/sim/site"
)

// Machine is a simulated machine.
type Machine struct {
	options MachineOptions
	clock   Clock
	times   Times
	log     *slog.Logger
	memory  *memory
	journal *journal
	network *network

	mu sync.Mutex
	// cutPower ends the present session; nil while none runs.
	cutPower context.CancelCauseFunc
}

// Why a session ended.
var (
	errReboot   = errors.New("reboot commanded")
	errPowerCut = errors.New("power cut")
	errBootFix  = errors.New("boot order corrected")
)

// NewMachine opens the folder of a machine, or makes it; the machine is not running.
func NewMachine(o MachineOptions) (*Machine, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("make machine %s: %w", o.Spec.Hostname, err)
	}
	if err := os.MkdirAll(o.Root, 0o755); err != nil {
		return nil, fmt.Errorf("make machine %s: %w", o.Spec.Hostname, err)
	}
	memory, err := openMemory(o.Root)
	if err != nil {
		return nil, fmt.Errorf("make machine %s: %w", o.Spec.Hostname, err)
	}
	journal, err := openJournal(o.Root, o.Now)
	if err != nil {
		return nil, fmt.Errorf("make machine %s: %w", o.Spec.Hostname, err)
	}
	m := &Machine{
		options: o, clock: Clock{o.Speed}, times: o.Times, log: o.Log, memory: memory, journal: journal,
	}
	m.network = newNetwork(m)
	return m, nil
}

// Run powers the machine on, or continues in the boot in which a former process was
// killed, until ctx ends; it returns nil then.
func (m *Machine) Run(ctx context.Context) error {
	defer m.journal.close() //nolint:errcheck // every line was synced
	for {
		err := m.cycle(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("machine %s: %w", m.options.Spec.Hostname, err)
		}
	}
}

// PowerCycle cuts the power and starts the machine again, from what the firmware finds
// or, when from is not empty, from that. A machine that is not running boots when it is
// run next.
func (m *Machine) PowerCycle(from BootFrom) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.memory.update(func(s *State) {
		s.NextFrom = from
		if m.cutPower == nil {
			s.forgetBoot()
		}
	})
	if err == nil && m.cutPower != nil {
		m.cutPower(errPowerCut)
	}
	return err
}

// State returns the present state of the machine.
func (m *Machine) State() State {
	state, _ := m.memory.get()
	return state
}

// cycle runs one boot, from power on to power off.
func (m *Machine) cycle(ctx context.Context) error {
	session, end := context.WithCancelCause(ctx)
	defer end(nil)
	m.mu.Lock()
	m.cutPower = end
	m.mu.Unlock()

	if state := m.State(); state.BootID == "" {
		if err := m.powerOn(); err != nil {
			return err
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.watchPower(session, end)
	}()
	err := m.session(session)
	end(err)
	<-done
	if ctx.Err() != nil {
		return nil // killed, not rebooted: the boot continues in the next process
	}
	cause := context.Cause(session)
	if err != nil && !errors.Is(cause, errReboot) && !errors.Is(cause, errPowerCut) && !errors.Is(cause, errBootFix) {
		return err
	}
	return m.powerOff(cause)
}

// watchPower ends the session when a commanded reboot or the correction of a wrong boot
// order is due.
func (m *Machine) watchPower(ctx context.Context, end context.CancelCauseFunc) {
	for ctx.Err() == nil {
		state, changed := m.memory.get()
		at, why := state.RebootAt, errReboot
		if at.IsZero() || !state.FixAt.IsZero() && state.FixAt.Before(at) {
			at, why = state.FixAt, errBootFix
		}
		if m.due(ctx, at, changed) {
			end(why)
		}
	}
}

// due waits until an instant and reports true; false when the state changes or ctx ends
// before. A zero instant never comes.
func (m *Machine) due(ctx context.Context, at time.Time, changed <-chan struct{}) bool {
	if at.IsZero() {
		m.rest(ctx, changed)
		return false
	}
	timer := time.NewTimer(at.Sub(m.options.Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-changed:
	case <-timer.C:
		return true
	}
	return false
}

// rest waits until the state changes or ctx ends.
func (m *Machine) rest(ctx context.Context, changed <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-changed:
	}
}

// session runs what was booted until the power goes.
func (m *Machine) session(ctx context.Context) error {
	if err := m.network.plug(); err != nil {
		return err
	}
	restoring := make(chan struct{})
	go func() {
		defer close(restoring)
		m.network.restore(ctx)
	}()
	defer func() { <-restoring }()
	if m.State().From == FromDisk {
		return m.runDisk(ctx)
	}
	return m.runLive(ctx)
}

func (m *Machine) powerOff(cause error) error {
	m.note(Entry{Event: EventPoweredOff, Detail: cause.Error()})
	if err := m.network.unplug(); err != nil {
		return err
	}
	return m.memory.update(func(s *State) {
		if errors.Is(cause, errBootFix) {
			s.NextFrom = FromDisk
		}
		s.forgetBoot()
	})
}

// note writes an entry with the present boot to the log.
func (m *Machine) note(e Entry) {
	state := m.State()
	e.BootID = state.BootID
	if err := m.journal.add(e); err != nil {
		m.log.Error("machine log not written", "error", err)
	}
}

// addresses lists the stations of the machine on the network of its site.
func (m *Machine) addresses() []site.Station {
	var stations []site.Station
	for _, nic := range m.options.Spec.NICs {
		for _, a := range nic.Addresses {
			station := site.Station{
				Machine: m.options.Spec.Hostname, MAC: nic.MAC, Address: a, MTU: nic.MTU, Loss: m.options.Faults.Loss,
			}
			stations = append(stations, station)
			if m.options.Faults.DuplicateIP {
				station.Machine, station.MAC = "unknown", "02"+nic.MAC[2:]
				stations = append(stations, station)
			}
		}
	}
	return stations
}
