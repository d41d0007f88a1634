package bench_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"slipway/internal/testing/healthy"
	"slipway/internal/wire"
)

// machine is a host that answers what discovery asks as a healthy one would.
type machine struct {
	infraEnv, id uuid.UUID
	version      string // of the agent
	number       int
	peers        int    // on how many others it reports at most
	poll         []byte // the request for steps, answered at once
	wait         []byte // the request for steps, held by the service
	waits        int    // seconds that it is held; zero: waitSeconds
	path         string // of its instructions
	token        string // of the host; empty where none is asked for
	// controller is the credential that the bootstrap host gets for the controller of its cluster; nil: none was given.
	controller atomic.Pointer[string]
}

// takeController remembers the credential of the controller, when a step has it.
func (m *machine) takeController(given []wire.Step) {
	for _, step := range given {
		var request wire.BootstrapRequest
		if len(step.Args) > 0 && json.Unmarshal([]byte(step.Args[0]), &request) == nil && request.ControllerToken != "" {
			m.controller.Store(&request.ControllerToken)
		}
	}
}

// call sends a request of the machine with its token.
func (m *machine) call(l *line, request []byte, limit time.Duration) (status int, body []byte, err error) {
	l.token = m.token
	status, body, err = l.call(request, limit)
	if l.renewed != "" {
		m.token, l.renewed = l.renewed, ""
	}
	return status, body, err
}

// waitSeconds is how long our agent asks a poll to be held.
const waitSeconds = 30

func newMachine(infraEnv uuid.UUID, version string, number, peers int) *machine {
	m := &machine{infraEnv: infraEnv, id: uuid.New(), version: version, number: number, peers: peers}
	m.path = fmt.Sprintf("/api/assisted-install/v2/infra-envs/%s/hosts/%s/instructions", m.infraEnv, m.id)
	m.setClock()
	return m
}

// setClock makes the requests for steps, which hold the host's time.
func (m *machine) setClock() {
	const usual = "Host: service.example\r\nAccept: application/json\r\nUser-Agent: slipway\r\n"
	headers := usual + "discovery_agent_version: " + m.version + "\r\n"
	now := time.Now().Unix() // a clock that lags by the minutes of a benchmark is no fault
	m.poll = fmt.Appendf(nil, "GET %s?timestamp=%d HTTP/1.1\r\n%s\r\n", m.path, now, headers)
	m.wait = fmt.Appendf(nil, "GET %s?timestamp=%d HTTP/1.1\r\n%sPrefer: wait=%d\r\n\r\n", m.path, now, headers, cmp.Or(m.waits, waitSeconds))
}

// register makes the request that registers the machine.
func (m *machine) register() []byte {
	return post(fmt.Sprintf("/api/assisted-install/v2/infra-envs/%s/hosts", m.infraEnv), wire.HostCreateParams{
		HostID: m.id, DiscoveryAgentVersion: &m.version,
	})
}

func (m *machine) deregister() []byte {
	return fmt.Appendf(
		nil,
		"DELETE /api/assisted-install/v2/infra-envs/%s/hosts/%s HTTP/1.1\r\nHost: service.example\r\n\r\n",
		m.infraEnv,
		m.id,
	)
}

func post(path string, body any) []byte { return send(http.MethodPost, path, body) }

func send(method, path string, body any) []byte {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // wire types can be encoded
	}
	head := fmt.Sprintf(
		"%s %s HTTP/1.1\r\nHost: service.example\r\nContent-Type: application/json\r\n%s: %s\r\nContent-Length: %d\r\n\r\n",
		method,
		path,
		wire.HeaderSteps,
		wire.StepsFine,
		len(text),
	)
	return append([]byte(head), text...)
}

// reply makes the request that posts the result of a step.
func (m *machine) reply(step wire.Step) []byte {
	return post(m.path, healthy.Reply(step, m.output(step)))
}

func (m *machine) output(step wire.Step) any {
	switch step.StepType {
	case wire.StepTypeInventory:
		return m.inventory()
	case wire.StepTypeConnectivityCheck:
		others := healthy.Arg[wire.ConnectivityCheckParams](step)
		return healthy.Reached(others[:min(len(others), m.peers)])
	}
	return healthy.Output(step)
}

// inventory returns the inventory of a server with four disks and four network ports, one of them used.
func (m *machine) inventory() wire.Inventory {
	inv := wire.Inventory{
		Hostname:     fmt.Sprintf("host-%d", m.number),
		BmcAddress:   "0.0.0.0",
		BmcV6Address: "::/0",
		CPU:          wire.CPU{Architecture: "x86_64", Count: 64, Frequency: 2900, ModelName: "Example Platinum 8000", Flags: flags},
		Memory:       wire.Memory{PhysicalBytes: 256 << 30, UsableBytes: 255 << 30},
		Routes:       []wire.Route{{Destination: "0.0.0.0", Gateway: "10.0.0.1", Interface: "eth0", Family: 2}},
		SystemVendor: wire.SystemVendor{Manufacturer: "Acme", ProductName: "Server", SerialNumber: fmt.Sprintf("SN%06d", m.number)},
	}
	for i := range 4 {
		disk := wire.Disk{
			ByID: fmt.Sprintf("/dev/disk/by-id/wwn-0x%08d%d", m.number, i), Name: fmt.Sprintf("sd%c", 'a'+i),
			ByPath: fmt.Sprintf("/dev/disk/by-path/pci-0000:00:1f.2-ata-%d", i+1), Hctl: fmt.Sprintf("%d:0:0:0", i),
			DriveType: wire.DriveTypeSSD, SizeBytes: 960_000_000_000, Bootable: i == 0, Model: "Example 960", Vendor: "ATA",
			Serial: fmt.Sprintf("S%08d%d", m.number, i), Smart: smart,
		}
		disk.Path = "/dev/" + disk.Name
		disk.InstallationEligibility.Eligible = true
		inv.Disks = append(inv.Disks, disk)
		nic := wire.Interface{
			Name: fmt.Sprintf("eth%d", i), Type: "physical", HasCarrier: i == 0, Mtu: 1500, SpeedMbps: 25000,
			MacAddress: fmt.Sprintf("52:54:%02x:%02x:%02x:%02x", i, m.number>>16&0xff, m.number>>8&0xff, m.number&0xff),
			Product:    "0x158b", Vendor: "0x8086", Biosdevname: fmt.Sprintf("em%d", i+1),
		}
		if i == 0 {
			nic.Ipv4Addresses = []string{fmt.Sprintf("10.0.%d.%d/16", 1+m.number/250, 1+m.number%250)}
		}
		inv.Interfaces = append(inv.Interfaces, nic)
	}
	return inv
}

var flags = []string{
	"fpu", "vme", "de", "pse", "tsc", "msr", "pae", "mce", "cx8", "apic", "sep", "mtrr", "pge", "mca", "cmov", "pat", "pse36", "clflush",
	"mmx", "fxsr", "sse", "sse2", "ss", "ht", "syscall", "nx", "pdpe1gb", "rdtscp", "lm", "constant_tsc", "rep_good", "nopl", "xtopology",
	"pni", "pclmulqdq", "vmx", "ssse3", "fma", "cx16", "pcid", "sse4_1", "sse4_2", "x2apic", "movbe", "popcnt", "aes", "xsave", "avx",
	"f16c",
}

const smart = `{"json_format_version":[1,0],"smartctl":{"version":[7,2],"exit_status":0},"smart_status":{"passed":true},"power_on_time":{"hours":9000}}`
