package engine

import (
	"time"

	"go.temporal.io/server/common/dynamicconfig"
)

// dynamicConfig sizes the server for one node with one tenant. The defaults protect a shared cluster from any
// one of its tenants; here they would only cause delays when a thousand hosts report at once.
func dynamicConfig() dynamicconfig.StaticClient {
	const unlimited = 100_000 // per second: more than this machine can do
	return dynamicconfig.StaticClient{
		dynamicconfig.FrontendRPS.Key():                                         unlimited,
		dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key():                  unlimited,
		dynamicconfig.HistoryRPS.Key():                                          unlimited,
		dynamicconfig.MatchingRPS.Key():                                         unlimited,
		dynamicconfig.FrontendPersistenceMaxQPS.Key():                           unlimited,
		dynamicconfig.HistoryPersistenceMaxQPS.Key():                            unlimited,
		dynamicconfig.MatchingPersistenceMaxQPS.Key():                           unlimited,
		dynamicconfig.WorkerPersistenceMaxQPS.Key():                             unlimited,
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key():        200,    // lists and counts; each is a real query
		dynamicconfig.FrontendMaxConcurrentLongRunningRequestsPerInstance.Key(): 10_000, // waiting updates and workers' polls

		// One partition: a poller and a task always meet at once. More are for queues
		// that one node cannot serve.
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,

		// No other member has to learn about this one leaving, and the machine may be about to shut down.
		dynamicconfig.FrontendShutdownDrainDuration.Key():           time.Second,
		dynamicconfig.FrontendShutdownFailHealthCheckDuration.Key(): time.Duration(0),
		dynamicconfig.HistoryShutdownDrainDuration.Key():            time.Duration(0),
		dynamicconfig.MatchingShutdownDrainDuration.Key():           time.Duration(0),

		// Clients wait this long for a new namespace or search attribute at the first start.
		dynamicconfig.NamespaceCacheRefreshInterval.Key(): time.Second,
	}
}
