package kube_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/hiveext"
	"slipway/internal/client"
	"slipway/internal/sim"
	"slipway/internal/testing/await"
	"slipway/internal/testing/healthy"
	"slipway/internal/wire"
	"slipway/test/built"
	"slipway/test/hub"
)

var (
	manyAgents   = flag.Int("agents", 20, "hosts of TestManyResources")
	manyClusters = flag.Int("clusters", 5, "AgentClusterInstalls of TestManyResources")
	rest         = flag.Duration("rest", 5*time.Second, "how long TestManyResources measures the controllers at rest")
)

// atOnce is how many requests of machines and users are sent at once.
const atOnce = 8

// hosts registers machines of an InfraEnv and answers their first step, and lets them poll until the test ends.
func (tr *trial) hosts(t *testing.T, env uuid.UUID, n int) {
	t.Helper()
	config, err := tr.service.DiscoveryIgnition(t.Context(), env)
	require.NoError(t, err)
	image, err := sim.ReadDiscovery(config)
	require.NoError(t, err)
	carrier := built.Carrier(t, tr.data)
	ids, clients := make([]uuid.UUID, n), make([]*client.Client, n)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(atOnce)
	for k := range n {
		group.Go(func() error {
			c := client.New(client.Options{BaseURL: image.ServiceURL, Token: image.Token, AgentVersion: image.AgentVersion, HTTPClient: carrier})
			ids[k], clients[k] = uuid.New(), c
			if _, err := c.RegisterHost(ctx, env, ids[k]); err != nil {
				return err
			}
			poll, err := c.NextSteps(ctx, env, ids[k], time.Now())
			if err != nil {
				return err
			}
			for _, step := range poll.Instructions {
				if step.StepType == wire.StepTypeInventory {
					return c.PostReply(ctx, env, ids[k], healthy.Reply(step, inventory(k)))
				}
			}
			return fmt.Errorf("require the step inventory first, found %v", poll.Instructions)
		})
	}
	require.NoError(t, group.Wait())
	polling, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	t.Cleanup(func() {
		stop()
		done.Wait()
	})
	done.Go(func() { // hosts that are silent for three minutes are disconnected
		for polling.Err() == nil {
			for k := range ids {
				_, _ = clients[k].NextSteps(polling, env, ids[k], time.Now())
				time.Sleep(time.Minute / time.Duration(n))
			}
		}
	})
}

// inventory returns the inventory of a machine.
func inventory(n int) wire.Inventory {
	inv := wire.Inventory{
		Hostname: fmt.Sprintf("host-%d", n), CPU: wire.CPU{Architecture: "x86_64", Count: 64},
		Memory:       wire.Memory{PhysicalBytes: 256 << 30, UsableBytes: 255 << 30},
		SystemVendor: wire.SystemVendor{Manufacturer: "Acme", ProductName: "Server", SerialNumber: fmt.Sprintf("SN%06d", n)},
	}
	for i := range 4 {
		name := fmt.Sprintf("sd%c", 'a'+i)
		inv.Disks = append(inv.Disks, wire.Disk{
			ByID: fmt.Sprintf("/dev/disk/by-id/wwn-0x%08d%d", n, i), Name: name, Path: "/dev/" + name, DriveType: wire.DriveTypeSSD,
			SizeBytes: 960_000_000_000,
		})
		inv.Disks[i].InstallationEligibility.Eligible = true
		inv.Interfaces = append(inv.Interfaces, wire.Interface{
			Name: fmt.Sprintf("eth%d", i), Type: "physical", HasCarrier: i == 0, MacAddress: fmt.Sprintf("52:54:%02x:00:%02x:%02x", i, n>>8, n&0xff),
		})
	}
	inv.Interfaces[0].Ipv4Addresses = []string{fmt.Sprintf("10.0.%d.%d/16", 1+n/250, 1+n%250)}
	return inv
}

// clusters makes AgentClusterInstalls of single nodes, with their ClusterDeployments.
func (tr *trial) clusters(t *testing.T, n int) {
	t.Helper()
	require.NoError(t, tr.kube.Create(t.Context(), &hive.ClusterImageSet{
		ObjectMeta: object("release"), Spec: hive.ClusterImageSetSpec{ReleaseImage: releaseImage(t, tr.service)},
	}))
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(atOnce)
	for k := range n {
		group.Go(func() error {
			name := fmt.Sprintf("cluster-%d", k)
			if err := tr.kube.Create(ctx, clusterDeployment(name)); err != nil {
				return err
			}
			return tr.kube.Create(ctx, &hiveext.AgentClusterInstall{ObjectMeta: object(name), Spec: hiveext.AgentClusterInstallSpec{
				ClusterDeploymentRef: corev1.LocalObjectReference{Name: name}, ImageSetRef: &hiveext.ClusterImageSetReference{Name: "release"},
				ProvisionRequirements: hiveext.ProvisionRequirements{ControlPlaneAgents: 1},
			}})
		})
	}
	require.NoError(t, group.Wait())
}

// synced counts the resources whose spec is applied, and returns the versions of all.
func (tr *trial) synced(t *testing.T) (agents, clusters int, versions map[string]string) {
	t.Helper()
	versions = map[string]string{}
	var hosts agentinstall.AgentList
	require.NoError(t, tr.kube.List(t.Context(), &hosts, kube.InNamespace("one")))
	for n := range hosts.Items {
		a := &hosts.Items[n]
		versions["Agent "+a.Name] = a.ResourceVersion
		if reasonOf(a, "SpecSynced") == "SyncOK" && a.Status.Inventory.Hostname != "" {
			agents++
		}
	}
	var installs hiveext.AgentClusterInstallList
	require.NoError(t, tr.kube.List(t.Context(), &installs, kube.InNamespace("one")))
	for n := range installs.Items {
		i := &installs.Items[n]
		versions["AgentClusterInstall "+i.Name] = i.ResourceVersion
		for _, c := range i.Status.Conditions {
			if c.Type == "SpecSynced" && c.Reason == "SyncOK" {
				clusters++
			}
		}
	}
	return agents, clusters, versions
}

// Controllers start beside many hosts and clusters, give each its resource or its settings, and rest then: nothing is written, and the
// service is not asked.
func TestManyResources(t *testing.T) {
	tr := start(t)
	tr.run(t)
	env := tr.image(t, agentinstall.InfraEnvSpec{})
	tr.kill(t)
	tr.hosts(t, env.ID, *manyAgents)
	tr.clusters(t, *manyClusters)

	began := time.Now()
	tr.run(t)
	await.True(t, func() bool {
		time.Sleep(time.Second) // to list a thousand Agents costs the API server as much as to follow some
		agents, clusters, _ := tr.synced(t)
		return agents == *manyAgents && clusters == *manyClusters
	}, "not all resources are synced")
	t.Logf("%d Agents and %d AgentClusterInstalls: synced after %s, processor time %s", *manyAgents, *manyClusters,
		time.Since(began).Round(100*time.Millisecond), processorTime(t, tr.program))

	// A resync comes every 10 minutes; until then nothing is done.
	var before map[string]string
	await.True(t, func() bool {
		_, _, now := tr.synced(t)
		same := len(before) > 0 && fmt.Sprint(before) == fmt.Sprint(now)
		before = now
		if !same {
			time.Sleep(2 * time.Second)
		}
		return same
	}, "the controllers do not rest")
	used, since := processorTime(t, tr.program), time.Now()
	time.Sleep(*rest)
	spent := processorTime(t, tr.program) - used
	_, _, now := tr.synced(t)
	require.Equal(t, before, now, "a controller writes at rest")
	t.Logf("at rest for %s: %.2f %% of a core, memory at most %s", time.Since(since).Round(time.Second),
		100*spent.Seconds()/time.Since(since).Seconds(), peakMemory(t, tr.program))
}

// processorTime returns what a process has used, user and system (proc(5), /proc/pid/stat), in ticks of 10 ms.
func processorTime(t *testing.T, p *hub.Process) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
	require.NoError(t, err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var user, system int64
	_, err = fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
	require.NoError(t, err)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// peakMemory returns the largest resident set of a process (proc(5), VmHWM).
func peakMemory(t *testing.T, p *hub.Process) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
