package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/testing/pgtest"
)

// shownText makes the texts of a host.
func shownText(h *model.Host) (text, inventory []byte) {
	return fmt.Appendf(nil, "%s %s %s", h.Status, h.Stage, h.RequestedHostname), []byte("of " + h.RequestedHostname)
}

func shownCluster(c *model.Cluster) []byte {
	if c.Tags == "whole" {
		return []byte{}
	}
	return []byte(c.Tags)
}

// shown reads the text of a host, and what is read of its document.
func shown(t *testing.T, s *store.Store, h *model.Host) (text, name string) {
	t.Helper()
	found := 0
	with := store.HostFilter{InfraEnvID: h.InfraEnvID, Inventory: true}
	err := s.ShownHosts(t.Context(), with, func(h *model.Host, kept, inventory []byte) error {
		found++
		text, name = string(kept), h.RequestedHostname
		if text != "" {
			of, found := strings.CutPrefix(string(inventory), "of ")
			require.True(t, found && strings.HasSuffix(text, " "+of), "%s is not %s", inventory, text)
		}
		require.Equal(t, model.FineSteps, h.AgentSteps)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 1, found)
	err = s.ShownHosts(t.Context(), store.HostFilter{InfraEnvID: h.InfraEnvID}, func(_ *model.Host, _, inventory []byte) error {
		require.Empty(t, inventory, "none was asked for")
		return nil
	})
	require.NoError(t, err)
	return text, name
}

func TestTextsOfHostsFollowTheirRows(t *testing.T) {
	t.Parallel()
	url := pgtest.Migrated(t, store.Migrate)
	opened := func(form int16) *store.Store {
		s, err := store.Open(t.Context(), store.Options{
			URL: url, Sealer: xorSealer{}, Now: time.Now, Rendering: store.Rendering{Form: form, Host: shownText, Cluster: shownCluster},
		})
		require.NoError(t, err)
		t.Cleanup(s.Close)
		return s
	}
	s := opened(2)
	h := newHost(t, s, nil)
	change := func(to *store.Store, name string) {
		_, err := to.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
			h.RequestedHostname = name
			return nil
		})
		require.NoError(t, err)
	}
	is := func(wantText, wantName string) {
		t.Helper()
		text, name := shown(t, s, h)
		require.Equal(t, []string{wantText, wantName}, []string{text, name})
	}
	change(s, "one")
	is("discovering  one", "")

	// Facts are no part of the text.
	_, err := s.UpdateHostFacts(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		h.Facts = model.Facts{"inventory": {}}
		return nil
	})
	require.NoError(t, err)
	is("discovering  one", "")

	// Whoever changes the row and renders nothing leaves no text.
	for _, sql := range []string{
		`update hosts set status = 'known'`,
		`update hosts set stage = 'Rebooting'`,
		`update hosts set status_info = 'by an earlier version', updated_at = now()`,
		`update hosts set bootstrap = not bootstrap`,
		`update hosts set doc = doc || '{"requested_hostname": "two"}'`,
		`update hosts set deleted_at = now(); update hosts set deleted_at = null`,
	} {
		change(s, "before: "+sql)
		text, _ := shown(t, s, h)
		require.NotEmpty(t, text)
		require.NoError(t, s.Exec(t.Context(), sql))
		text, name := shown(t, s, h)
		require.Empty(t, text, sql)
		require.NotEmpty(t, name, "%s: the document is read instead", sql)
	}
	change(s, "three")
	is("known Rebooting three", "")

	// A service of another version keeps another form, or none.
	later := opened(3)
	text, name := shown(t, later, h)
	require.Equal(t, []string{"", "three"}, []string{text, name})
	change(later, "four")
	is("", "four")
	none, err := store.Open(t.Context(), store.Options{URL: url, Sealer: xorSealer{}, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(none.Close)
	change(s, "five")
	text, name = shown(t, none, h)
	require.Equal(t, []string{"", "five"}, []string{text, name})
	change(none, "six")
	is("", "six")

	// A service renders what was written without it.
	more, err := s.KeepTexts(t.Context(), 1)
	require.NoError(t, err)
	require.True(t, more)
	is("known Rebooting six", "")
	more, err = s.KeepTexts(t.Context(), 1)
	require.NoError(t, err)
	require.False(t, more)
}

func TestTextsOfClustersFollowTheirRows(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Options{
		URL: pgtest.Migrated(t, store.Migrate), Sealer: xorSealer{}, Now: time.Now,
		Rendering: store.Rendering{Form: 2, Host: shownText, Cluster: shownCluster},
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	c := newCluster(t, s)
	is := func(wantText, wantTags string) {
		t.Helper()
		err := s.ShownClusters(t.Context(), store.ClusterFilter{}, func(c *model.Cluster, kept []byte) error {
			require.Equal(t, []string{wantText, wantTags, "s3cret"}, []string{string(kept), c.Tags, c.PullSecret.Reveal()})
			return nil
		})
		require.NoError(t, err)
	}
	change := func(tags string) {
		t.Helper()
		_, err := s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error { c.Tags = tags; return nil })
		require.NoError(t, err)
	}
	change("one")
	is("one", "")
	for _, sql := range []string{
		`update clusters set name = 'other'`,
		`update clusters set status = 'ready'`,
		`update clusters set doc = doc || '{"tags": "two"}', updated_at = now()`,
		`update clusters set deleted_at = now(); update clusters set deleted_at = null`,
	} {
		change("before: " + sql)
		is("before: "+sql, "")
		require.NoError(t, s.Exec(t.Context(), sql))
		kept := ""
		require.NoError(t, s.ShownClusters(t.Context(), store.ClusterFilter{}, func(c *model.Cluster, text []byte) error {
			kept = string(text)
			require.NotEmpty(t, c.Tags)
			return nil
		}))
		require.Empty(t, kept, sql)
	}
	// Some clusters have no text, and are read whole. They are not rendered again and again.
	change("whole")
	is("", "whole")
	more, err := s.KeepTexts(t.Context(), 1)
	require.NoError(t, err)
	require.False(t, more)
}
