package api

import (
	"net/http"

	"slipway/internal/cluster/events"
	"slipway/internal/model"
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/store"
)

// record adds an event of the catalogue that a request causes.
func record(r *http.Request, tx *store.Tx, name events.Name, subject events.Subject, props events.Props) {
	e := events.New(name, subject, props, tx.Now())
	e.RequestID = httpapi.About(r).UUID()
	tx.Event(e)
}

// requestRecorder writes the events of a request.
type requestRecorder struct {
	*store.Tx
	r *http.Request
}

// Event appends events with the id of the request.
func (r requestRecorder) Event(list ...model.Event) {
	for i := range list {
		list[i].RequestID = httpapi.About(r.r).UUID()
	}
	r.Tx.Event(list...)
}

func ofInfraEnv(e *model.InfraEnv) events.Subject {
	return events.Subject{ClusterID: e.ClusterID, InfraEnvID: &e.ID}
}
