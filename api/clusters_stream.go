package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/cluster/answers"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// hostsField is where hosts go in the JSON of a cluster without any. It is found once:
// quotes inside of texts are escaped.
const hostsField = `"hosts":[]`

// wholeCluster writes a cluster with its hosts, which are read meanwhile, one by one: a
// thousand hosts that reach each other fill 300 MB.
func (s *server) wholeCluster(ctx context.Context, v clusterView) written {
	return func(out io.Writer) error {
		text, err := json.Marshal(v.toWire())
		if err != nil {
			return err
		}
		before, after, _ := strings.Cut(string(text), hostsField)
		if _, err := io.WriteString(out, before+strings.TrimSuffix(hostsField, "]")); err != nil {
			return err
		}
		view := answers.HostView{SingleNode: v.cluster.SingleNode(), Inventory: true, Connectivity: true, Secrets: v.secrets}
		separator := ""
		filter := store.HostFilter{ClusterID: v.cluster.ID, Connectivity: true}
		same := func(*model.Host) answers.HostView { return view }
		err = s.hostTexts(ctx, filter, same, func(text json.RawMessage) error {
			_, err := io.WriteString(out, separator)
			separator = ","
			if err == nil {
				_, err = out.Write(text)
			}
			return err
		})
		if err == nil {
			_, err = io.WriteString(out, "]"+after)
		}
		return err
	}
}

// replyCluster answers with a cluster as it now stands, with its hosts.
func (s *server) replyCluster(status int, w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	s.bringUpToDate(r.Context(), store.Reading{ClusterID: id})
	return s.replyDefinition(status, w, r, id)
}

// replyDefinition answers with a cluster that was just defined. Clients expect the status every cluster begins with.
func (s *server) replyDefinition(status int, w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	view, err := s.clusterView(r.Context(), id)
	if err != nil {
		return err
	}
	view.secrets = readsSecrets(r)
	whole := s.wholeCluster(r.Context(), view)
	return s.respond(status, w, func(out io.Writer) error {
		if err := whole(out); err != nil {
			return err
		}
		_, err := io.WriteString(out, "\n")
		return err
	})
}
