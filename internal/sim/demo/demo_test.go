package demo_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cli"
	"slipway/internal/sim/demo"
)

func TestPlanHasTheMachinesThatWereAskedFor(t *testing.T) {
	t.Parallel()
	machines, err := (&demo.Command{Hosts: "3+2", SNO: true, Fail: []string{"worker-1:image-write"}}).Plan()
	require.NoError(t, err)
	require.Equal(t, []demo.Machine{
		{Cluster: "demo", Host: "master-0", Address: "192.168.111.20"},
		{Cluster: "demo", Host: "master-1", Address: "192.168.111.21"},
		{Cluster: "demo", Host: "master-2", Address: "192.168.111.22"},
		{Cluster: "demo", Host: "worker-0", Address: "192.168.111.120"},
		{Cluster: "demo", Host: "worker-1", Address: "192.168.111.121", Troubled: true},
		{Cluster: "demo-sno", Host: "sno", Address: "192.168.112.20"},
	}, machines)
}

func TestASingleNodeHasNoVirtualAddresses(t *testing.T) {
	t.Parallel()
	require.Empty(t, (&demo.Command{Hosts: "1"}).VirtualAddresses())
	require.Len(t, (&demo.Command{Hosts: "3"}).VirtualAddresses(), 2)
}

func TestEveryScenarioHasAPlanAndIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/demo.md")
	require.NoError(t, err)
	help, found := reflect.TypeFor[demo.Command]().FieldByName("Scenario")
	require.True(t, found)
	require.Contains(t, string(help.Tag), strings.Join(demo.ScenarioNames(), ", "))
	for _, name := range demo.ScenarioNames() {
		machines, err := (&demo.Command{Scenario: []string{name}}).Plan()
		require.NoError(t, err, name)
		require.NotEmpty(t, machines, name)
		require.Contains(t, string(page), "| `"+name+"` |")
	}
	_, err = (&demo.Command{Scenario: []string{"huge"}}).Plan()
	require.ErrorContains(t, err, `found "huge"`)
}

func TestPlanRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		command    demo.Command
	}{
		{"an invalid number of hosts", "require masters and workers such as 3+2", demo.Command{Hosts: "three"}},
		{"nothing to install", "nothing to install", demo.Command{Hosts: "0"}},
		{
			"a fault of a host of no cluster", `there is no host "worker-0"`,
			demo.Command{Hosts: "0", Common: demo.Common{Keep: true}, SlowDisk: []string{"worker-0"}},
		},
		{
			"a fault of a host that is not there", `there is no host "worker-7", only master-0`,
			demo.Command{Hosts: "3", SlowDisk: []string{"worker-7"}},
		},
		{"a step that cannot fail", "cannot be made to fail", demo.Command{Hosts: "3", Fail: []string{"master-0:dance"}}},
	} {
		_, err := c.command.Plan()
		require.ErrorContains(t, err, c.want, c.name)
	}
}

func TestServiceWithoutMachinesIsKept(t *testing.T) {
	t.Parallel()
	machines, err := (&demo.Command{Hosts: "0", Common: demo.Common{Keep: true}}).Plan()
	require.NoError(t, err)
	require.Empty(t, machines)
}

func TestReadyLineOfTheServiceIsUnderstood(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"http://127.0.0.1:8090", "http://127.0.0.1:8090/temporal"}, demo.ReadyLine(
		"slipway is ready after 3.1s: API http://127.0.0.1:8090, Temporal UI http://127.0.0.1:8090/temporal, Temporal 127.0.0.1:7233"))
	require.Nil(t, demo.ReadyLine("something else"))
}

func TestDemoSaysWhyTheServiceDidNotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "slipway")
	require.NoError(
		t,
		os.WriteFile(program, []byte("#!/bin/sh\necho 'slipway: port 1 is taken' >&2\nexit 1\n"), 0o700),
	) //nolint:gosec // a program
	var out bytes.Buffer
	command := demo.Command{Hosts: "0", SNO: true, Common: demo.Common{DataDir: filepath.Join(dir, "data"), Timeout: time.Minute}}
	err := command.Run(t.Context(), &demo.Environment{
		Service: program, Self: program, TempDir: dir, Terminal: &cli.Terminal{Out: &out, Err: &out, Now: time.Now},
	})
	require.ErrorContains(t, err, "slipway has ended; its log is ")
	require.ErrorContains(t, err, "port 1 is taken")
	require.ErrorContains(t, err, filepath.Join(dir, "data"))
}
