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

func ofCluster(c *model.Cluster) events.Subject { return events.Subject{ClusterID: &c.ID, Cluster: c} }

func ofHost(h *model.Host) events.Subject {
	return events.Subject{ClusterID: h.ClusterID, HostID: &h.ID, InfraEnvID: &h.InfraEnvID, HostName: hostName(h), Host: h}
}

func ofInfraEnv(e *model.InfraEnv) events.Subject {
	return events.Subject{ClusterID: e.ClusterID, InfraEnvID: &e.ID}
}
