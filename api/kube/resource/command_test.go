package resource_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/resource"
	"slipway/internal/model"
)

// patches keeps what is patched.
type patches struct {
	kube.Client
	sent []string
}

func (p *patches) Patch(_ context.Context, o kube.Object, patch kube.Patch, _ ...kube.PatchOption) error {
	text, err := patch.Data(o)
	p.sent = append(p.sent, string(text))
	return err
}

func TestCommandsAreAnsweredOnce(t *testing.T) {
	t.Parallel()
	const removed = `{"metadata":{"annotations":{"slipway.dev/command":null}}}`
	for name, c := range map[string]struct {
		command string
		answer  error
		unknown bool // to the service
		failure string
		patches []string
		event   string
	}{
		"none":     {},
		"accepted": {command: "retry", patches: []string{removed}, event: "Normal CommandAccepted retry: accepted"},
		"refused": {
			command: "retry", answer: fmt.Errorf("no: %w", model.ErrConflict), patches: []string{removed},
			event: "Warning CommandRefused retry: no: ",
		},
		"of a host that is gone": {
			command: "retry", answer: model.ErrNotFound, patches: []string{removed},
			event: "Warning CommandRefused retry: ",
		},
		"without an answer": {command: "retry", answer: errors.New("away"), failure: "retry: away"},
		"unknown": {
			command: "Retry", patches: []string{removed},
			event: `Warning CommandRefused Retry: annotation slipway.dev/command: require one of retry, found "Retry"`,
		},
		"of a cluster that is not known": {
			command: "retry", unknown: true, patches: []string{removed},
			event: "Warning CommandRefused retry: the service does not have it yet",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &agentinstall.Agent{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"other": "kept"}}}
			if c.command != "" {
				a.Annotations["slipway.dev/command"] = c.command
			}
			commands := resource.Commands{"retry": func(context.Context) error { return c.answer }}
			if c.unknown {
				commands = nil
			}
			kube, recorder := &patches{}, events.NewFakeRecorder(2)
			err := resource.Obey(t.Context(), kube, recorder, a, commands)
			if c.failure == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, c.failure)
			}
			require.Equal(t, c.patches, kube.sent)
			require.Equal(t, "kept", a.Annotations["other"])
			if c.event == "" {
				require.Empty(t, recorder.Events)
			} else {
				require.True(t, strings.HasPrefix(<-recorder.Events, c.event), c.event)
			}
		})
	}
}

func TestChangesOfStateAndStageAreEvents(t *testing.T) {
	t.Parallel()
	info := func(state, info string) agentinstall.DebugInfo {
		return agentinstall.DebugInfo{State: state, StateInfo: info}
	}
	for name, c := range map[string]struct {
		before, after agentinstall.DebugInfo
		was, stage    string
		want          []string
	}{
		"nothing": {info("ready", "a"), info("ready", "b"), "", "", nil},
		"a state": {
			info("known", ""), info("installing-in-progress", "begins"), "", "",
			[]string{"Normal InstallingInProgress installing-in-progress: begins"},
		},
		"a state without text": {info("known", ""), info("installed", ""), "", "", []string{"Normal Installed installed"}},
		"a failure":            {info("installing", ""), info("error", "disk"), "a", "a", []string{"Warning Error error: disk"}},
		"a person is asked": {
			info("installing", ""), info("installing-pending-user-action", "boot"), "", "",
			[]string{"Warning InstallingPendingUserAction installing-pending-user-action: boot"},
		},
		"the first state":          {info("", ""), info("known", ""), "", "", nil},
		"a stage":                  {info("a", ""), info("a", ""), "Installing", "Rebooting", []string{"Normal Stage Rebooting"}},
		"the service is not asked": {info("ready", "a"), info("", ""), "Done", "", nil},
		"a long text": {
			info("a", ""), info("error", strings.Repeat("ä", 600)), "", "", []string{"Warning Error error: " + strings.Repeat("ä", 507) + "..."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := events.NewFakeRecorder(3)
			resource.Announce(recorder, &agentinstall.Agent{}, c.before, c.after, c.was, c.stage)
			close(recorder.Events)
			var got []string
			for event := range recorder.Events {
				got = append(got, event)
			}
			require.Equal(t, c.want, got)
		})
	}
}
