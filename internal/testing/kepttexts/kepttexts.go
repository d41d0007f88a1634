// Package kepttexts compares, in tests, what is kept of hosts for lists with a rendering of their rows.
package kepttexts

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/answers"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// Rendering is the rendering of the service.
var Rendering = store.Rendering{Form: answers.KeptForm, Keep: answers.Keep}

// CheckAtEnd compares the texts of all hosts when the test ends, whatever has happened to them.
func CheckAtEnd(t testing.TB, s *store.Store) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		kept, whole := list(ctx, t, s)
		for range 3 { // a host may change between the two reads
			if wire.Text(kept) == wire.Text(whole) {
				break
			}
			kept, whole = list(ctx, t, s)
		}
		require.Equal(t, whole, kept)
	})
}

// list reads all hosts by their texts, and from their rows.
func list(ctx context.Context, t testing.TB, s *store.Store) (kept, whole []any) {
	t.Helper()
	view := answers.HostView{Inventory: true, Connectivity: true, Secrets: true}
	var texts answers.Texts
	filter := store.HostFilter{Connectivity: true}
	require.NoError(t, s.ShownHosts(ctx, filter, func(h *model.Host, text []byte) error {
		out, err := texts.AppendHost(nil, h, text, view)
		kept = append(kept, decoded(t, out))
		return err
	}))
	require.NoError(t, s.Hosts(ctx, filter, func(h *model.Host) error {
		out, err := json.Marshal(answers.Host(h, view))
		whole = append(whole, decoded(t, out))
		return err
	}))
	return kept, whole
}

func decoded(t testing.TB, text []byte) (out any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}
