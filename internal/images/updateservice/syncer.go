package updateservice

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"slipway/internal/cluster/openshift"
)

// answerTime is how long one answer may take.
const answerTime = 30 * time.Second

// Syncer asks for releases and offers them.
type Syncer struct {
	Sources   []openshift.ReleaseSource
	Catalogue *openshift.Catalogue // takes what was found
	// UpdateService is the base address of the update service; LifeCycles the whole one
	// of the product life cycles, nil for none.
	UpdateService, LifeCycles *url.URL
	Client                    *http.Client
	// Interval is how long the releases of one look are good for.
	Interval time.Duration
	Log      *slog.Logger
}

// Run looks at once and then every interval until ctx ends. What could not be had is
// logged, and what was known before stays on offer.
func (s *Syncer) Run(ctx context.Context) {
	ticker := time.NewTicker(s.Interval)
	defer ticker.Stop()
	for {
		s.Sync(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Sync looks once. An answer that is missing leaves the whole list as it is: a release
// that comes and goes would be worse than one that comes late.
func (s *Syncer) Sync(ctx context.Context) {
	found, err := s.fetch(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.Log.WarnContext(ctx, "release sources could not be read", "error", err)
		}
		return
	}
	s.Catalogue.Extend(found)
	s.Log.InfoContext(ctx, "release sources read", "found", len(found), "on_offer", len(s.Catalogue.List()))
}

// majors are the first numbers of the versions of sources.
func majors(sources []openshift.ReleaseSource) []string {
	var out []string
	for _, s := range sources {
		major, _, _ := strings.Cut(s.OpenShiftVersion, ".")
		if !slices.Contains(out, major) {
			out = append(out, major)
		}
	}
	return out
}
