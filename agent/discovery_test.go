package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent"
	"slipway/agent/agenttest"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

const pingOutput = `PING 192.0.2.11 (192.0.2.11) 56(84) bytes of data.

--- 192.0.2.11 ping statistics ---
10 packets transmitted, 9 received, 10% packet loss, time 1802ms
rtt min/avg/max/mdev = 0.100/0.345/0.600/0.010 ms
`

// discoveryStep is a step, the commands and stations it meets and the output it must have.
type discoveryStep struct {
	kind     wire.StepType
	args     []string
	commands map[string]hostexectest.Answer
	stations stations
	names    names
	code     int
	output   string
}

func discoverySteps() map[string]discoveryStep {
	const remote = `[{"host_id":"aaaaaaaa-0000-4000-8000-000000000001","nics":[{"name":"eth0","mac":"52:54:00:AA:BB:01","ip_addresses":["192.0.2.11"]}]}]`
	return map[string]discoveryStep{
		"connectivity to a host on the link": {
			kind: wire.StepTypeConnectivityCheck, args: []string{remote},
			commands: map[string]hostexectest.Answer{
				"ping -c 10 -i 0.2 -W 3 -q 192.0.2.11":               hostexectest.Prints(pingOutput),
				"ping -c 3 -W 3 -q -I eth0 192.0.2.11":               hostexectest.Prints(pingOutput),
				"ping -c 3 -W 3 -q -M do -s 8972 -I eth0 192.0.2.11": hostexectest.Fails(1, "message too long"),
			},
			stations: stations{"192.0.2.11 on eth0 from 192.0.2.10": {"52:54:00:aa:bb:01", "52:54:00:ff:ff:ff"}},
			output: `{"remote_hosts":[{"host_id":"aaaaaaaa-0000-4000-8000-000000000001",
				"l2_connectivity":[
					{"outgoing_ip_address":"192.0.2.10","outgoing_nic":"eth0","remote_ip_address":"192.0.2.11","remote_mac":"52:54:00:aa:bb:01","successful":true},
					{"outgoing_ip_address":"192.0.2.10","outgoing_nic":"eth0","remote_ip_address":"192.0.2.11","remote_mac":"52:54:00:ff:ff:ff"}],
				"l3_connectivity":[{"average_rtt_ms":0.345,"packet_loss_percentage":10,"remote_ip_address":"192.0.2.11","successful":true}],
				"mtu_report":[{"outgoing_nic":"eth0","remote_ip_address":"192.0.2.11"}]}]}`,
		},
		"connectivity to a host with a MAC address of its user": {
			kind: wire.StepTypeConnectivityCheck,
			args: []string{`[{"host_id":"aaaaaaaa-0000-4000-8000-000000000001","nics":[
				{"name":"eno1","mac":"02:00:5e:20:00:01","ip_addresses":["2001:db8::11"]},{"name":"eno1","mac":"02:AA:bb:cc:dd:01"}]}]`},
			commands: map[string]hostexectest.Answer{"ping": hostexectest.Fails(1, "")},
			stations: stations{"2001:db8::11 on eth0 from 2001:db8::10": {"02:aa:bb:cc:dd:01"}},
			output: `{"remote_hosts":[{"host_id":"aaaaaaaa-0000-4000-8000-000000000001",
				"l2_connectivity":[{"outgoing_ip_address":"2001:db8::10","outgoing_nic":"eth0","remote_ip_address":"2001:db8::11","remote_mac":"02:aa:bb:cc:dd:01","successful":true}],
				"l3_connectivity":[{"packet_loss_percentage":100,"remote_ip_address":"2001:db8::11"}]}]}`,
		},
		"large packets over IPv6 that are lost": {
			kind: wire.StepTypeConnectivityCheck,
			args: []string{
				`[{"host_id":"aaaaaaaa-0000-4000-8000-000000000001","nics":[{"mac":"52:54:00:aa:bb:01","ip_addresses":["2001:db8::11"]}]}]`,
			},
			commands: map[string]hostexectest.Answer{
				"ping -c 10 -i 0.2 -W 3 -q 2001:db8::11":               hostexectest.Prints(pingOutput),
				"ping -c 3 -W 3 -q -I eth0 2001:db8::11":               hostexectest.Prints(pingOutput),
				"ping -c 3 -W 3 -q -M do -s 8952 -I eth0 2001:db8::11": hostexectest.Fails(1, "message too long"),
			},
			output: `{"remote_hosts":[{"host_id":"aaaaaaaa-0000-4000-8000-000000000001",
				"l2_connectivity":[{"outgoing_ip_address":"2001:db8::10","outgoing_nic":"eth0","remote_ip_address":"2001:db8::11"}],
				"l3_connectivity":[{"average_rtt_ms":0.345,"packet_loss_percentage":10,"remote_ip_address":"2001:db8::11","successful":true}],
				"mtu_report":[{"outgoing_nic":"eth0","remote_ip_address":"2001:db8::11"}]}]}`,
		},
		"connectivity to a host that is away": {
			kind: wire.StepTypeConnectivityCheck,
			args: []string{
				`[{"host_id":"aaaaaaaa-0000-4000-8000-000000000001","nics":[{"ip_addresses":["203.0.113.1","203.0.113.1","nonsense"]}]}]`,
			},
			commands: map[string]hostexectest.Answer{
				"ping": hostexectest.Fails(1, ""),
			},
			output: `{"remote_hosts":[{"host_id":"aaaaaaaa-0000-4000-8000-000000000001",
				"l3_connectivity":[{"packet_loss_percentage":100,"remote_ip_address":"203.0.113.1"}]}]}`,
		},
		"connectivity over IPv6": {
			kind: wire.StepTypeConnectivityCheck,
			args: []string{
				`[{"host_id":"aaaaaaaa-0000-4000-8000-000000000001","nics":[{"mac":"52:54:00:aa:bb:01","ip_addresses":["2001:db8::11"]}]}]`,
			},
			commands: map[string]hostexectest.Answer{
				"ping": hostexectest.Prints(
					"3 packets transmitted, 3 received, 0% packet loss, time 2ms\nrtt min/avg/max/mdev = 1/2/3/0 ms\n",
				),
			},
			stations: stations{"2001:db8::11 on eth0 from 2001:db8::10": {"52:54:00:aa:bb:01"}},
			output: `{"remote_hosts":[{"host_id":"aaaaaaaa-0000-4000-8000-000000000001",
				"l2_connectivity":[{"outgoing_ip_address":"2001:db8::10","outgoing_nic":"eth0","remote_ip_address":"2001:db8::11","remote_mac":"52:54:00:aa:bb:01","successful":true}],
				"l3_connectivity":[{"average_rtt_ms":2,"remote_ip_address":"2001:db8::11","successful":true}],
				"mtu_report":[{"mtu_successful":true,"outgoing_nic":"eth0","remote_ip_address":"2001:db8::11"}]}]}`,
		},
		"connectivity to a neighbour whose advertisement has no address of its link": {
			kind: wire.StepTypeConnectivityCheck,
			args: []string{
				`[{"host_id":"aaaaaaaa-0000-4000-8000-000000000001","nics":[{"mac":"52:54:00:aa:bb:01","ip_addresses":["2001:db8::11"]}]}]`,
			},
			commands: map[string]hostexectest.Answer{
				"ping": hostexectest.Prints(
					"3 packets transmitted, 3 received, 0% packet loss, time 2ms\nrtt min/avg/max/mdev = 1/2/3/0 ms\n",
				),
			},
			stations: stations{"2001:db8::11 on eth0 from 2001:db8::10": nil},
			output: `{"remote_hosts":[{"host_id":"aaaaaaaa-0000-4000-8000-000000000001",
				"l2_connectivity":[{"outgoing_ip_address":"2001:db8::10","outgoing_nic":"eth0","remote_ip_address":"2001:db8::11","successful":true}],
				"l3_connectivity":[{"average_rtt_ms":2,"remote_ip_address":"2001:db8::11","successful":true}],
				"mtu_report":[{"mtu_successful":true,"outgoing_nic":"eth0","remote_ip_address":"2001:db8::11"}]}]}`,
		},
		"free addresses": {
			kind: wire.StepTypeFreeNetworkAddresses, args: []string{`["192.0.2.8/29"]`},
			stations: stations{"192.0.2.12 on eth0 from 192.0.2.10": {"52:54:00:00:00:01"}, "192.0.2.13 on eth0 from 192.0.2.10": nil},
			output:   `[{"network":"192.0.2.8/29","free_addresses":["192.0.2.9","192.0.2.11","192.0.2.14"]}]`,
		},
		"virtual addresses": {
			kind: wire.StepTypeVerifyVips,
			args: []string{
				`[{"vip":"192.0.2.100","vip_type":"api"},{"vip":"192.0.2.101","vip_type":"ingress"},{"vip":"192.0.2.10","vip_type":"api"},
				{"vip":"2001:db8::100","vip_type":"api"},{"vip":"2001:db8::101","vip_type":"ingress"}]`,
			},
			commands: map[string]hostexectest.Answer{"ping": hostexectest.Fails(1, "")},
			stations: stations{
				"192.0.2.101 on eth0 from 192.0.2.10":     {"52:54:00:00:00:01"},
				"2001:db8::101 on eth0 from 2001:db8::10": nil,
			},
			output: `[{"vip":"192.0.2.100","vip_type":"api","verification":"succeeded"},{"vip":"192.0.2.101","vip_type":"ingress","verification":"failed"},
				{"vip":"192.0.2.10","vip_type":"api","verification":"failed"},
				{"vip":"2001:db8::100","vip_type":"api","verification":"succeeded"},{"vip":"2001:db8::101","vip_type":"ingress","verification":"failed"}]`,
		},
		"virtual addresses of IPv6 whose neighbour discovery is not answered": {
			kind: wire.StepTypeVerifyVips,
			args: []string{`[{"vip":"2001:db8::100","vip_type":"api"},{"vip":"2001:db8::101","vip_type":"ingress"},{"vip":"192.0.2.100","vip_type":"api"}]`},
			commands: map[string]hostexectest.Answer{
				"ping -c 2 -W 2 -q 2001:db8::100": hostexectest.Prints(""), "ping -c 2 -W 2 -q 2001:db8::101": hostexectest.Fails(1, ""),
				"ping -c 2 -W 2 -q 192.0.2.100": hostexectest.Prints(""), // routed somewhere: ARP decides
			},
			output: `[{"vip":"2001:db8::100","vip_type":"api","verification":"failed"},
				{"vip":"2001:db8::101","vip_type":"ingress","verification":"succeeded"},
				{"vip":"192.0.2.100","vip_type":"api","verification":"succeeded"}]`,
		},
		"virtual addresses on a link that has no neighbours": {
			kind: wire.StepTypeVerifyVips,
			args: []string{`[{"vip":"192.0.2.66","vip_type":"api"}]`},
			commands: map[string]hostexectest.Answer{
				"ping -c 2 -W 2 -q 192.0.2.66": hostexectest.Prints(""),
			},
			stations: stations{"192.0.2.66 on eth0 from 192.0.2.10": {"error"}},
			output:   `[{"vip":"192.0.2.66","vip_type":"api","verification":"failed"}]`,
		},
		"virtual addresses of a network that the host is not in": {
			kind: wire.StepTypeVerifyVips,
			args: []string{`[{"vip":"203.0.113.100","vip_type":"api"},{"vip":"2001:db8:1::100","vip_type":"api"}]`},
			commands: map[string]hostexectest.Answer{
				"ping -c 2 -W 2 -q 203.0.113.100":   hostexectest.Prints(""),
				"ping -c 2 -W 2 -q 2001:db8:1::100": hostexectest.Fails(1, ""),
			},
			output: `[{"vip":"203.0.113.100","vip_type":"api","verification":"failed"},{"vip":"2001:db8:1::100","vip_type":"api","verification":"succeeded"}]`,
		},
		"domain names": {
			kind: wire.StepTypeDomainResolution,
			args: []string{
				`{"domains":[{"domain_name":"api.c.example.com"},{"domain_name":"x.apps.c.example.com"},{"domain_name":"no.such.name"}]}`,
			},
			names: names{
				"api.c.example.com":     "192.0.2.100",
				"x.apps.c.example.com":  "2001:db8::101",
				"=x.apps.c.example.com": "lb.example.com.",
			},
			output: `{"resolutions":[{"domain_name":"api.c.example.com","ipv4_addresses":["192.0.2.100"]},
				{"domain_name":"x.apps.c.example.com","ipv6_addresses":["2001:db8::101"],"cnames":["lb.example.com."]},
				{"domain_name":"no.such.name"}]}`,
		},
		"images": {
			kind: wire.StepTypeContainerImageAvailability, args: []string{`{"images":["local","broken"],"timeout":60}`},
			commands: map[string]hostexectest.Answer{
				"podman images --quiet local": hostexectest.Prints("0123\n"), "podman images": hostexectest.Prints("\n"),
				"podman pull --quiet broken": hostexectest.Fails(125, "manifest unknown"),
			},
			code:   2,
			output: `{"images":[{"name":"local","result":"success"},{"name":"broken","result":"failure"}]}`,
		},
		"disk speed": {
			kind: wire.StepTypeInstallationDiskSpeedCheck, args: []string{`{"path":"/dev/sda"}`, "480.00"},
			output: `{"io_sync_duration":7,"path":"/dev/sda"}`,
		},
	}
}

func TestDiscoverySteps(t *testing.T) {
	t.Parallel()
	for name, c := range discoverySteps() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t)
			for line, answer := range c.commands {
				h.On(line, answer)
			}
			if c.names != nil {
				h.names = c.names
			}
			h.stations = c.stations
			h.start(t, s)
			s.Give("step-1", c.kind, c.args...)
			reply := s.AwaitReply(t, "step-1")
			require.Equal(t, c.code, reply.ExitCode, reply.Error)
			require.JSONEq(t, c.output, reply.Output)
		})
	}
}

func TestNTPSynchronizerAddsWhatIsMissing(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.names = names{"known.example.com": "192.0.2.1", "192.0.2.1": "known.example.com."}
	const before = "MS Name/IP address         Stratum Poll Reach LastRx Last sample\n" +
		"===============================================================================\n" +
		"^* 192.0.2.1                     2   6   377    34    +15us[  +20us] +/-   10ms\n"
	h.On("chronyc -n sources", hostexectest.Prints(before))
	h.On("chronyc add server broken iburst", hostexectest.Fails(1, "506 Cannot talk to daemon"))
	h.On("chronyc add server new.example.com iburst", func(context.Context, hostexec.Cmd) (hostexec.Result, error) {
		h.On(
			"chronyc -n sources",
			hostexectest.Prints(before+"^? 192.0.2.2 0 6 0 - +0ns\n^  192.0.2.3 0 6 0 - +0ns\n^x 192.0.2.4 0 6 0 - +0ns\n"),
		)
		return hostexec.Result{}, nil
	})
	h.start(t, s)
	s.Give("ntp-1", wire.StepTypeNtpSynchronizer, `{"ntp_source":"known.example.com,new.example.com, broken"}`)
	reply := s.AwaitReply(t, "ntp-1")
	require.Zero(t, reply.ExitCode, reply.Error)
	require.JSONEq(
		t,
		`{"ntp_sources":[{"source_name":"known.example.com","source_state":"synced"},{"source_name":"192.0.2.2","source_state":"unreachable"},
		{"source_name":"192.0.2.3","source_state":"unreachable"},{"source_name":"192.0.2.4","source_state":"error"}]}`,
		reply.Output,
	)
	require.Zero(t, h.Count("chronyc add server known"))
	// A clock that is hours off must jump, however many updates chronyd had before (chronyc(1), makestep).
	require.Equal(t, 1, h.Count("chronyc makestep 1.0 -1"))
}

// chronyTable returns the output of chronyc for sources with these marks.
func chronyTable(marks ...string) string {
	table := "MS Name/IP address         Stratum Poll Reach LastRx Last " +
		"sample\n===============================================================================\n"
	for n, mark := range marks {
		table += fmt.Sprintf("^%s 192.0.2.%d 2 6 377 34 +15us[ +20us] +/- 10ms\n", mark, n+1)
	}
	return table
}

func TestNTPSynchronizerGivesAClockThatIsNotReadyTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first hostexectest.Answer
		then  hostexectest.Answer
		code  int
		says  string // the output, or the error
		asked int
	}{
		"a daemon that just starts": {
			hostexectest.Fails(1, "506 Cannot talk to daemon"), hostexectest.Prints(chronyTable("*")), 0, `"synced"`, 2,
		},
		"sources that were just added": {
			hostexectest.Prints(chronyTable("?", " ")), hostexectest.Prints(chronyTable("*", "+")), 0, `"combined"`, 2,
		},
		"sources that never agree":           {hostexectest.Prints(chronyTable("x", "x")), nil, 0, `"error"`, 8},
		"a daemon that is not there":         {hostexectest.Fails(1, "506 Cannot talk to daemon"), nil, 1, "506 Cannot talk", 8},
		"a clock that has no source":         {hostexectest.Prints(chronyTable()), nil, 0, `{}`, 1},
		"a host without the command chronyc": {nil, nil, -1, "no such command", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t)
			if c.first != nil {
				h.On("chronyc -n sources", func(ctx context.Context, cmd hostexec.Cmd) (hostexec.Result, error) {
					if c.then != nil {
						h.On("chronyc -n sources", c.then)
					}
					return c.first(ctx, cmd)
				})
			}
			h.start(t, s)
			s.Give("ntp-1", wire.StepTypeNtpSynchronizer, `{"ntp_source":""}`)
			reply := s.AwaitReply(t, "ntp-1")
			require.Equal(t, c.code, reply.ExitCode)
			require.Contains(t, reply.Output+reply.Error, c.says)
			require.Equal(t, c.asked, h.Count("chronyc -n sources"))
		})
	}
}

func TestImageAvailabilityMeasuresPulls(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.On("podman images", hostexectest.Prints(""))
	h.On("podman pull", hostexectest.Prints("0123\n"))
	h.On("podman image inspect --format={{.Size}} new", hostexectest.Prints("400000000\n"))
	h.start(t, s)
	s.Give("images-1", wire.StepTypeContainerImageAvailability, `{"images":["new"]}`)
	var response wire.ContainerImageAvailabilityResponse
	require.NoError(t, json.Unmarshal([]byte(s.AwaitReply(t, "images-1").Output), &response))
	require.Equal(t, wire.ContainerImageAvailabilityResultSuccess, response.Images[0].Result)
	require.InDelta(t, 4e8, response.Images[0].SizeBytes, 1)
	require.Positive(t, response.Images[0].DownloadRate)
}

func TestAnImageThatTakesAllTheTimeDoesNotHideThoseThatAreThere(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.On("podman images", func(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error) {
		if c.Args[len(c.Args)-1] == "local" {
			return hostexec.Result{Stdout: "0123\n"}, ctx.Err()
		}
		return hostexec.Result{}, ctx.Err()
	})
	h.On("podman pull", hostexectest.Hangs)
	h.start(t, s)
	s.Give("images-1", wire.StepTypeContainerImageAvailability, `{"images":["slow","local"],"timeout":1}`)
	reply := s.AwaitReply(t, "images-1")
	require.Equal(t, 2, reply.ExitCode)
	require.JSONEq(t, `{"images":[{"name":"slow","result":"failure"},{"name":"local","result":"success"}]}`, reply.Output)
}

func TestDiskSpeedIsNotWaitedForWithoutALimit(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.start(t, s)
	s.Give("speed-1", wire.StepTypeInstallationDiskSpeedCheck, `{"path":"/dev/slow"}`, "0.001")
	reply := s.AwaitReply(t, "speed-1")
	require.Equal(t, 124, reply.ExitCode)
	require.Contains(t, reply.Error, "measure /dev/slow: timed out after 1ms")
}

func TestDiskSpeedOfADiskThatIsAbsentFails(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.start(t, s)
	s.Give("speed-1", wire.StepTypeInstallationDiskSpeedCheck, `{"path":"/dev/sdz"}`, "480.00")
	reply := s.AwaitReply(t, "speed-1")
	require.Equal(t, -1, reply.ExitCode)
	require.Contains(t, reply.Error, "measure /dev/sdz")
}

func TestInventoryLeavesOutSmallDisks(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.write(t, "/sys/block/sda/size", "1000\n")
	h.write(t, "/sys/block/sdb/size", "10\n")
	h.start(t, s)
	s.Give("inventory-1", wire.StepTypeInventory, agenttest.HostID.String(), "--output-max-size=100", "--disk-min-size=100000")
	var inventory wire.Inventory
	require.NoError(t, json.Unmarshal([]byte(s.AwaitReply(t, "inventory-1").Output), &inventory))
	require.Len(t, inventory.Disks, 1)
	require.Equal(t, "master-0", inventory.Hostname)
}

func TestPartsOfTheInventoryThatCannotBeReadAreLoggedOnce(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	var log bytes.Buffer
	running := h.start(t, s, func(o *agent.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	for _, id := range []string{"inventory-1", "inventory-2"} {
		s.Give(id, wire.StepTypeInventory, agenttest.HostID.String())
		require.Zero(t, s.AwaitReply(t, id).ExitCode)
	}
	running.stop(t)
	require.Equal(t, 1, strings.Count(log.String(), `msg="part of the inventory cannot be read" part=disks`), log.String())
}

func TestLogsGatherSendsTheLogs(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.start(t, s)
	s.Give(
		"logs-1",
		wire.StepTypeLogsGather,
		fmt.Sprintf(
			`{"cluster_id":%q,"host_id":%q,"infra_env_id":%q,"bootstrap":true,"installer_gather":true}`,
			agenttest.ClusterID,
			agenttest.HostID,
			agenttest.EnvID,
		),
	)
	require.Zero(t, s.AwaitReply(t, "logs-1").ExitCode)
	require.Equal(t, 1, h.Count("journalctl --no-pager --output=short-iso --unit=bootkube.service"))
}
