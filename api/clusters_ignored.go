package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// V2GetIgnoredValidations reads which validations a cluster ignores.
func (s *server) V2GetIgnoredValidations(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	c, err := s.Store.Cluster(r.Context(), id)
	if err != nil {
		return err
	}
	return ok(w, ignoredToWire(c))
}

// V2SetIgnoredValidations sets which validations a cluster ignores. An absent list, or an empty text, leaves the choice to the
// deployment.
func (s *server) V2SetIgnoredValidations(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	var params wire.IgnoredValidations
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	hosts, err := ignoredIDs("host-validation-ids", deref(params.HostValidationIds),
		knownID[wire.HostValidationID], validation.HostIgnorable)
	if err != nil {
		return err
	}
	clusters, err := ignoredIDs("cluster-validation-ids", deref(params.ClusterValidationIds),
		knownID[wire.ClusterValidationID], validation.ClusterIgnorable)
	if err != nil {
		return err
	}
	c, err := s.Store.UpdateCluster(r.Context(), id, func(c *model.Cluster, tx *store.Tx) error {
		same := slices.Equal(hosts, c.IgnoredHostValidations) && slices.Equal(clusters, c.IgnoredClusterValidations)
		c.IgnoredHostValidations, c.IgnoredClusterValidations = hosts, clusters // an empty list is not the same as none
		if !same && len(hosts)+len(clusters) > 0 {
			record(r, tx, events.ValidationsIgnored, lifecycle.AboutCluster(c), nil)
		}
		tx.RefreshCluster(c.ID)
		return nil
	})
	if err != nil {
		return err
	}
	return created(w, ignoredToWire(c))
}

func knownID[ID interface{ Valid() bool }](id ID) bool { return id.Valid() }

// maxIgnored bounds a list of validation ids: there are fewer.
const maxIgnored = 1000

// ignoredIDs reads a list of validation ids: JSON in a string, or the word for all of
// them. Nil for empty text.
func ignoredIDs[ID ~string](field, text string, known, ignorable func(ID) bool) ([]string, error) {
	switch text = strings.TrimSpace(text); text {
	case "":
		return nil, nil
	case validation.IgnoreAll, `"` + validation.IgnoreAll + `"`:
		return []string{validation.IgnoreAll}, nil
	}
	var list []string
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, model.Invalidf(`%s: require a JSON list of ids or "all", found %q`, field, model.Abridged(text))
	}
	if len(list) > maxIgnored {
		return nil, model.Invalidf("%s: require at most %d ids, found %d", field, maxIgnored, len(list))
	}
	out := []string{}
	var unknown, needed []string
	for _, id := range list {
		switch {
		case slices.Contains(out, id):
			continue
		case id != validation.IgnoreAll && !known(ID(id)):
			unknown = append(unknown, model.Abridged(id))
		case id != validation.IgnoreAll && !ignorable(ID(id)):
			needed = append(needed, id)
		}
		out = append(out, id)
	}
	switch {
	case len(unknown) > 0:
		return nil, model.Invalidf("%s: require ids of validations, found %s", field, strings.Join(unknown, ", "))
	case len(needed) > 0:
		return nil, model.Invalidf("%s: require validations that can be ignored, found %s", field, strings.Join(needed, ", "))
	}
	return out, nil
}

func ignoredToWire(c *model.Cluster) wire.IgnoredValidations {
	hosts, clusters := wire.Text(orEmpty(c.IgnoredHostValidations)), wire.Text(orEmpty(c.IgnoredClusterValidations))
	return wire.IgnoredValidations{HostValidationIds: &hosts, ClusterValidationIds: &clusters}
}
