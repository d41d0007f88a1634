package service

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/images/liveisos"
)

// An API beside an image service has no room for the live images that the settings list.
func TestListedImagesAreLeftToTheImageService(t *testing.T) {
	t.Parallel()
	const listed = `[{"openshift_version":"4.22","cpu_architecture":"x86_64","url":"https://mirror.example/a.iso","version":"9"}]`
	for address, want := range map[string]liveisos.State{
		"": liveisos.StateWaiting, "https://images.example.com": liveisos.StateOnDemand,
	} {
		o := settings.Service{DataDir: t.TempDir(), Releases: settings.Releases{OSImages: listed, ReleaseSources: "[]"}}
		o.ImageServiceURL = address
		s := New(&process.Process{Now: time.Now}, o)
		var err error
		s.offers, err = readReleases(o.Releases, o.DataDir)
		require.NoError(t, err)
		store, err := s.openImages()
		require.NoError(t, err)
		found := store.Status()
		require.Len(t, found, 1)
		require.Equal(t, want, found[0].State, address)
	}
}
