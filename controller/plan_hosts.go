package controller

import (
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"slipway/internal/cluster/kubeletcsr"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
)

// missingHostReports reports hosts whose node exists as Joined and those whose node is
// ready as Done. A host that waits for the user to fix its boot order is reported too: its
// node proves that it started from its disk. Of a host that the service has not seen reboot, only a node that is younger than its stage
// is reported: another one with its name is of an attempt before.
func missingHostReports(s State) []Action {
	var actions []Action
	for _, h := range s.Cluster.Hosts {
		left := lifecycle.Reportable.Has(h.Status) && h.Stage.LeftLiveImage() && h.Stage != model.StageDone
		if !left && !unseen(h) {
			continue
		}
		node := nodeOf(h, s)
		if node == nil || ofAttemptBefore(h, node) {
			continue
		}
		if h.Stage != model.StageJoined {
			actions = append(actions, ReportHost{Host: h, Stage: model.StageJoined})
		}
		if ready(node) {
			actions = append(actions, ReportHost{Host: h, Stage: model.StageDone})
		}
	}
	return actions
}

// ofAttemptBefore reports whether an earlier installation of its host left the node: it is older than the present reboot, and nothing has
// brought it up since.
func ofAttemptBefore(h Host, node *corev1.Node) bool {
	if !h.Stage.LeftLiveImage() {
		return h.StageSince.IsZero() || !node.CreationTimestamp.After(h.StageSince)
	}
	return h.Stage == model.StageRebooting && !ready(node) && node.CreationTimestamp.Time.Before(h.StageSince)
}

// missingLabels lists the labels that users want on nodes and that are missing.
func missingLabels(s State) []Action {
	var actions []Action
	for _, h := range s.Cluster.Hosts {
		node := nodeOf(h, s)
		if node == nil {
			continue
		}
		if waitsForPause(h, s) {
			continue
		}
		missing := maps.Clone(h.Labels)
		if inOwnPool(h) {
			if missing == nil {
				missing = map[string]string{}
			}
			missing[rolePrefix+h.Pool] = ""
		}
		maps.DeleteFunc(missing, func(key, value string) bool {
			has, ok := node.Labels[key]
			return ok && has == value
		})
		if len(missing) > 0 {
			actions = append(actions, LabelNode{Node: node.Name, Labels: missing})
		}
	}
	return actions
}

// nodeOf finds the node of a host: the node with its name, else a node that has one of its
// addresses and the name of no other host.
func nodeOf(h Host, s State) *corev1.Node {
	for i := range s.Nodes {
		if s.Nodes[i].Name == h.Name {
			return &s.Nodes[i]
		}
	}
	for i := range s.Nodes {
		if hostNamed(s.Nodes[i].Name, s) == nil && hasAddressOf(&s.Nodes[i], h) {
			return &s.Nodes[i]
		}
	}
	return nil
}

func hasAddressOf(node *corev1.Node, h Host) bool {
	for _, a := range node.Status.Addresses {
		address, err := netip.ParseAddr(a.Address)
		if err == nil && a.Type == corev1.NodeInternalIP && slices.Contains(h.Addresses, address) {
			return true
		}
	}
	return false
}

func hostNamed(name string, s State) *Host {
	for i := range s.Cluster.Hosts {
		if name != "" && s.Cluster.Hosts[i].Name == name {
			return &s.Cluster.Hosts[i]
		}
	}
	return nil
}

func ready(node *corev1.Node) bool { return kubeletcsr.Ready(node) != nil }
