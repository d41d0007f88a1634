package api

import (
	"net/http"
	"strings"
	"time"

	"slipway/api/admission"
	"slipway/internal/cluster/answers"
	"slipway/internal/platform/store"
)

// versionLife bounds how long an answer stays the same for a client that has it: when hosts were heard last is no change of its own, nor
// is a later end of an address that is signed.
const versionLife = time.Minute

// unchanged brings what is read up to date, and names its version. When the client has that already it answers 304, and returns true.
// The tag is weak: times of check-ins may differ. In a quiet service it costs one read. The answer depends on rows, and on the given
// settings.
func (s *server) unchanged(w http.ResponseWriter, r *http.Request, of store.Reading, settings ...string) (bool, error) {
	version, behind, err := s.Store.Version(r.Context(), of)
	if err == nil && behind {
		s.bringUpToDate(r.Context(), of)
		version, _, err = s.Store.Version(r.Context(), of)
	}
	if err != nil {
		return false, err
	}
	tag := "W/" + s.tag("version", s.Version, answers.KeptForm, version.String(), of, s.Now().Unix()/int64(versionLife/time.Second),
		readsSecrets(r), admission.Tenant(r), settings)
	w.Header().Set("Etag", tag)
	if !hasTag(r, tag) {
		return false, nil
	}
	w.WriteHeader(http.StatusNotModified)
	return true, nil
}

// hasTag reports whether a client has what a tag names (RFC 9110, section 13.1.2).
func hasTag(r *http.Request, tag string) bool {
	for known := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		known = strings.TrimSpace(known)
		if known != "" && strings.TrimPrefix(known, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
