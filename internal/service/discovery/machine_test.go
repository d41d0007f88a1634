package discovery_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/service/discovery"
	"slipway/internal/testing/healthy"
	"slipway/internal/wire"
)

// machine is a host that answers every question as a healthy one would.
type machine struct {
	*lab
	infraEnv, id uuid.UUID
	hostname     string
	address      string // CIDR
	cpus         int
	memoryGiB    int
	agentSteps   model.AgentSteps
	bootID       string        // as the agent names it; empty when it does not
	ahead        time.Duration // of its clock, or noClock

	mu sync.Mutex
	// instead gives other replies, by step type; nil withholds the reply.
	instead map[wire.StepType]func(wire.Step) *wire.StepReply
	asked   map[wire.StepType]int
	replied func() // called after each reply of live, if set
}

func (l *lab) machine(env *model.InfraEnv, number int) *machine {
	return &machine{
		lab: l, infraEnv: env.ID, id: uuid.New(), hostname: fmt.Sprintf("host-%d", number),
		address: fmt.Sprintf("192.0.2.%d/24", 10+number), cpus: 8, memoryGiB: 32, agentSteps: model.FineSteps,
		asked: map[wire.StepType]int{},
	}
}

// boot registers the machine and answers until the test ends or stop is called.
func (m *machine) boot(t *testing.T) (stop func()) {
	t.Helper()
	m.register(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.live(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(stop)
	return stop
}

func (m *machine) register(t *testing.T) *model.Host {
	t.Helper()
	h, err := m.service.Register(t.Context(), discovery.RegisterInput{
		InfraEnvID: m.infraEnv, HostID: m.id, AgentVersion: "agent:1", AgentSteps: m.agentSteps, Boot: m.bootID,
	})
	require.NoError(t, err)
	return h.Host
}

func (m *machine) live(ctx context.Context) {
	for ctx.Err() == nil {
		steps, err := m.service.NextSteps(ctx, m.pollInput(5*time.Second))
		if err != nil {
			continue
		}
		for _, step := range steps.Instructions {
			if reply := m.answer(step); reply != nil {
				_ = m.service.Reply(ctx, m.infraEnv, m.id, *reply)
				if m.replied != nil {
					m.replied()
				}
			}
		}
	}
}

// noClock is the setting of a machine whose polls do not include its time.
const noClock = time.Duration(-1)

func (m *machine) pollInput(wait time.Duration) discovery.PollInput {
	in := discovery.PollInput{
		InfraEnvID: m.infraEnv, HostID: m.id, Timestamp: m.now().Add(m.ahead).Unix(), AgentVersion: "agent:1", Boot: m.bootID, Wait: wait,
	}
	if m.ahead == noClock {
		in.Timestamp = 0
	}
	return in
}

// poll asks for steps once, without waiting.
func (m *machine) poll(t *testing.T) wire.Steps {
	t.Helper()
	steps, err := m.service.NextSteps(t.Context(), m.pollInput(0))
	require.NoError(t, err)
	return steps
}

// reply posts the result of a step.
func (m *machine) reply(t *testing.T, r wire.StepReply) error {
	t.Helper()
	return m.service.Reply(t.Context(), m.infraEnv, m.id, r)
}

// answerAll polls once and answers what is asked.
func (m *machine) answerAll(t *testing.T) wire.Steps {
	t.Helper()
	steps := m.poll(t)
	for _, step := range steps.Instructions {
		if reply := m.answer(step); reply != nil {
			require.NoError(t, m.reply(t, *reply))
		}
	}
	return steps
}

// read gives the host as it is stored.
func (m *machine) read(t *testing.T) *model.Host {
	t.Helper()
	h, err := m.store.Host(t.Context(), m.infraEnv, m.id)
	require.NoError(t, err)
	return h
}

func (m *machine) answer(step wire.Step) *wire.StepReply {
	m.mu.Lock()
	m.asked[step.StepType]++
	other, ok := m.instead[step.StepType]
	m.mu.Unlock()
	if ok {
		return other(step)
	}
	reply := healthy.Reply(step, m.output(step))
	return &reply
}

// count returns how often a step was handed out.
func (m *machine) count(step wire.StepType) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[step]
}

func (m *machine) output(step wire.Step) any {
	switch step.StepType {
	case wire.StepTypeInventory:
		return m.inventory()
	case wire.StepTypeFreeNetworkAddresses:
		return wire.FreeNetworksAddresses{{Network: "192.0.2.0/24", FreeAddresses: []string{"192.0.2.200"}}}
	}
	return healthy.Output(step)
}

func (m *machine) inventory() wire.Inventory {
	disk := wire.Disk{
		ByID: "/dev/disk/by-id/wwn-0x1", Name: "sda", Path: "/dev/sda", DriveType: wire.DriveTypeSSD, SizeBytes: 256_000_000_000, Bootable: true,
	}
	disk.InstallationEligibility.Eligible = true
	small := wire.Disk{ByID: "/dev/disk/by-id/wwn-0x2", Name: "sdb", Path: "/dev/sdb", DriveType: wire.DriveTypeSSD, SizeBytes: 8_000_000_000}
	small.InstallationEligibility.Eligible = true
	return wire.Inventory{
		Hostname: m.hostname,
		CPU:      wire.CPU{Architecture: "x86_64", Count: m.cpus},
		Memory:   wire.Memory{PhysicalBytes: m.memoryGiB << 30, UsableBytes: m.memoryGiB << 30},
		Disks:    []wire.Disk{disk, small},
		Interfaces: []wire.Interface{
			{Name: "eth0", Type: "physical", MacAddress: mac(m.address), Ipv4Addresses: []string{m.address}, HasCarrier: true, Mtu: 1500},
			{Name: "veth0", Type: "device", MacAddress: "0a:00:00:00:00:01"},
		},
		Routes:       []wire.Route{{Destination: "0.0.0.0", Gateway: "192.0.2.1", Interface: "eth0", Family: 2}},
		SystemVendor: wire.SystemVendor{Manufacturer: "Acme", ProductName: "Server"},
	}
}

func mac(address string) string {
	sum := uuid.NewSHA1(uuid.NameSpaceURL, []byte(address))
	return fmt.Sprintf("52:54:00:%02x:%02x:%02x", sum[0], sum[1], sum[2])
}
