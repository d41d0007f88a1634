package resource

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"slipway/api/kube/agentinstall"
)

// Announce records an event where the state of a host or a cluster, or the stage of a host, has changed; the first state is no change.
// States that wait for a person or have failed are warnings.
func Announce(recorder events.EventRecorder, o kube.Object, before, after agentinstall.DebugInfo, was, stage string) {
	if before.State != "" && after.State != "" && after.State != before.State {
		recorder.Eventf(o, nil, urgency(after.State), reason(after.State), "Install", "%s", note(after.State, after.StateInfo))
	}
	if stage != "" && stage != was {
		recorder.Eventf(o, nil, corev1.EventTypeNormal, "Stage", "Install", "%s", stage)
	}
}

// urgency returns the type of the event of a state.
func urgency(state string) string {
	for _, part := range []string{"error", "failed", "user-action", "disconnected", "insufficient"} {
		if strings.Contains(state, part) {
			return corev1.EventTypeWarning
		}
	}
	return corev1.EventTypeNormal
}

// reason writes a state as reasons of events are: InstallingInProgress for installing-in-progress.
func reason(state string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(state, "-") {
		if part != "" {
			out.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return out.String()
}

// noteLimit is the most that an event takes (k8s.io/api/events/v1, Event.Note).
const noteLimit = 1024

func note(state, info string) string {
	text := state
	if info != "" {
		text += ": " + info
	}
	if len(text) <= noteLimit {
		return text
	}
	return strings.ToValidUTF8(text[:noteLimit-3], "") + "..."
}
