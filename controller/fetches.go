package controller

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
)

// Where the machine config server runs, and the line it logs for each host that fetches its Ignition
// (openshift/machine-config-operator, pkg/server/api.go). Health checks have other user agents.
const (
	configNamespace = "openshift-machine-config-operator"
	configSelector  = "k8s-app=machine-config-server"
)

var fetchLine = regexp.MustCompile(`^(\S+) .*requested by address:"([^"]+)" User-Agent:"Ignition/`)

// configLogTail bounds what is read of one server's log (bytes).
const configLogTail int64 = 8 << 20

// observeFetches finds the addresses that fetched their Ignition, and when they did last, while some host may have rebooted and is not
// known to have. The logs of the servers are the only trace of it.
func (c *controller) observeFetches(ctx context.Context, hosts []Host) (map[netip.Addr]time.Time, error) {
	if !slices.ContainsFunc(hosts, fetches) {
		return nil, nil
	}
	pods, err := c.kube.CoreV1().Pods(configNamespace).List(ctx, metav1.ListOptions{LabelSelector: configSelector})
	if err != nil {
		return nil, fmt.Errorf("list machine config servers: %w", err)
	}
	found := map[netip.Addr]time.Time{}
	for i := range pods.Items {
		// A server that does not answer yet says nothing: another one may.
		c.note(ctx, "read the log of "+pods.Items[i].Name, c.readFetches(ctx, pods.Items[i].Name, found))
	}
	return found, nil
}

func (c *controller) readFetches(ctx context.Context, pod string, found map[netip.Addr]time.Time) error {
	log, err := c.kube.CoreV1().Pods(configNamespace).
		GetLogs(pod, &corev1.PodLogOptions{LimitBytes: new(configLogTail), Timestamps: true}).Stream(ctx)
	if err != nil {
		return err
	}
	defer log.Close()
	return fetchesIn(log, found)
}

// fetchesIn adds the addresses in the log of a server, whose lines begin with their times (RFC 3339).
func fetchesIn(log io.Reader, found map[netip.Addr]time.Time) error {
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		m := fetchLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		address, err := netip.ParseAddrPort(m[2])
		if err != nil {
			continue
		}
		at, _ := time.Parse(time.RFC3339, m[1]) // without a time it counts as an early one
		if last, seen := found[address.Addr().Unmap()]; !seen || last.Before(at) {
			found[address.Addr().Unmap()] = at
		}
	}
	return lines.Err()
}

// missingConfiguring reports hosts that fetched their Ignition as Configuring: the node comes later, after one more
// reboot.
func missingConfiguring(s State) []Action {
	var actions []Action
	for _, h := range s.Cluster.Hosts {
		fetched := slices.ContainsFunc(h.Addresses, func(a netip.Addr) bool {
			at, found := s.Fetched[a]
			return found && (!unseen(h) || at.After(h.StageSince))
		})
		if fetched && fetches(h) && nodeOf(h, s) == nil {
			actions = append(actions, ReportHost{Host: h, Stage: model.StageConfiguring})
		}
	}
	return actions
}

// fetches: the host has rebooted and is to fetch its Ignition; a worker may have asked the bootstrap host in vain.
func fetches(h Host) bool {
	return lifecycle.Reportable.Has(h.Status) && (h.Stage == model.StageRebooting || h.Stage == model.StageWaitingForIgnition) || unseen(h)
}

// unseen: the host may run from its disk, and the service has not seen it reboot, as it was restored from an earlier backup or was away.
// What the host does counts only if it is younger than the stage that the service knows: the rest is of an attempt before.
func unseen(h Host) bool {
	return lifecycle.Reportable.Has(h.Status) && !h.Stage.LeftLiveImage() || h.Status == model.HostError && h.Stage != model.StageDone
}
