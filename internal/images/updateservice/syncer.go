// Package updateservice keeps the available releases up to date with the update service and the product life
// cycles, where a deployment names release sources. Package openshift interprets the replies.
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

// answerTime bounds the time of one reply.
const answerTime = 30 * time.Second

// Syncer requests releases and makes them available.
type Syncer struct {
	Sources   []openshift.ReleaseSource
	Catalogue *openshift.Catalogue // receives the result
	// UpdateService is the base address of the update service; LifeCycles the whole one
	// of the product life cycles, nil for none.
	UpdateService, LifeCycles *url.URL
	Client                    *http.Client
	// Interval is how long the releases of one request are valid.
	Interval time.Duration
	Log      *slog.Logger
}

// Run synchronises at once and then every interval until ctx ends. Failures are logged, and the releases known
// before stay available.
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

// Sync synchronises once. A failed request leaves the whole list unchanged: a release that comes and goes would
// be worse than one that comes late.
func (s *Syncer) Sync(ctx context.Context) {
	found, err := s.Fetch(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.Log.WarnContext(ctx, "release sources could not be read", "error", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		return
	}
	s.Catalogue.Extend(found)
	s.Log.InfoContext(ctx, "release sources read", "found", len(found), "on_offer", len(s.Catalogue.List()))
}

// majors lists the first numbers of the versions of sources.
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
