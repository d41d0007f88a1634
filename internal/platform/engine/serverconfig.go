package engine

import (
	"net"
	"strconv"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
)

const (
	// historyShards cannot be changed once a database is in use. Sixteen were as fast as
	// four up to 500 hosts installing at once and 1.6 times as fast beyond.
	historyShards = 16
	// clusterName is the name an official server must be configured with to take over the database.
	clusterName = "active"
)

// serverConfig describes one Temporal server of all services on loopback.
func serverConfig(databaseURL string, ports map[primitives.ServiceName]int) (*config.Config, error) {
	stores := map[string]config.DataStore{}
	for _, s := range []temporalSchema{mainSchema, visibilitySchema} {
		store, err := sqlStore(databaseURL, s.name, s.conns)
		if err != nil {
			return nil, err
		}
		stores[s.name] = config.DataStore{SQL: store}
	}
	frontend := address(ports[primitives.FrontendService])
	c := &config.Config{
		Persistence: config.Persistence{
			DefaultStore:     mainSchema.name,
			VisibilityStore:  visibilitySchema.name,
			NumHistoryShards: historyShards,
			DataStores:       stores,
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, // as in every single cluster
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: frontend},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            map[string]config.Service{},
		PublicClient:        config.PublicClient{HostPort: frontend},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
	}
	for service, port := range ports {
		c.Services[string(service)] = config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: loopback}}
	}
	return c, nil
}

// staticHosts replaces the membership protocol of a cluster: every service is here.
func staticHosts(ports map[primitives.ServiceName]int) map[primitives.ServiceName]static.Hosts {
	hosts := map[primitives.ServiceName]static.Hosts{}
	for service, port := range ports {
		hosts[service] = static.SingleLocalHost(address(port))
	}
	return hosts
}

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
